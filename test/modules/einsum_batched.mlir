// einsum_batched: 3x7x16 bfloat16, 3x16x11 bfloat16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<3x7x16xbf16>, %arg1: tensor<3x16x11xbf16>) -> tensor<3x7x11xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x7x11xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x7x11xf32>) -> tensor<3x7x11xf32>
    %2 = linalg.batch_matmul ins(%arg0, %arg1 : tensor<3x7x16xbf16>, tensor<3x16x11xbf16>) outs(%1 : tensor<3x7x11xf32>) -> tensor<3x7x11xf32>
    %3 = tensor.empty() : tensor<3x7x11xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<3x7x11xf32>) outs(%3 : tensor<3x7x11xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %6 = arith.truncf %in : f32 to bf16
      linalg.yield %6 : bf16
    } -> tensor<3x7x11xbf16>
    %expanded = tensor.expand_shape %4 [[0], [1], [2, 3]] output_shape [3, 7, 1, 11] : tensor<3x7x11xbf16> into tensor<3x7x1x11xbf16>
    %5 = tensor.empty() : tensor<3x7x11x1xbf16>
    %transposed = linalg.transpose ins(%expanded : tensor<3x7x1x11xbf16>) outs(%5 : tensor<3x7x11x1xbf16>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1], [2, 3]] : tensor<3x7x11x1xbf16> into tensor<3x7x11xbf16>
    return %collapsed : tensor<3x7x11xbf16>
  }
}
