// einsum_abc_cd: 3x5x16 float16, 16x24 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<3x5x16xf16>, %arg1: tensor<16x24xf16>) -> tensor<3x5x24xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<3x5x16xf16> into tensor<15x16xf16>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [1, 15, 16] : tensor<15x16xf16> into tensor<1x15x16xf16>
    %expanded_0 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [1, 16, 24] : tensor<16x24xf16> into tensor<1x16x24xf16>
    %0 = tensor.empty() : tensor<1x15x24xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x15x24xf32>) -> tensor<1x15x24xf32>
    %2 = linalg.batch_matmul ins(%expanded, %expanded_0 : tensor<1x15x16xf16>, tensor<1x16x24xf16>) outs(%1 : tensor<1x15x24xf32>) -> tensor<1x15x24xf32>
    %3 = tensor.empty() : tensor<1x15x24xf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x15x24xf32>) outs(%3 : tensor<1x15x24xf16>) {
    ^bb0(%in: f32, %out: f16):
      %6 = arith.truncf %in : f32 to f16
      linalg.yield %6 : f16
    } -> tensor<1x15x24xf16>
    %collapsed_1 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<1x15x24xf16> into tensor<15x24xf16>
    %expanded_2 = tensor.expand_shape %collapsed_1 [[0, 1], [2, 3]] output_shape [3, 5, 1, 24] : tensor<15x24xf16> into tensor<3x5x1x24xf16>
    %5 = tensor.empty() : tensor<3x5x24x1xf16>
    %transposed = linalg.transpose ins(%expanded_2 : tensor<3x5x1x24xf16>) outs(%5 : tensor<3x5x24x1xf16>) permutation = [0, 1, 3, 2] 
    %collapsed_3 = tensor.collapse_shape %transposed [[0], [1], [2, 3]] : tensor<3x5x24x1xf16> into tensor<3x5x24xf16>
    return %collapsed_3 : tensor<3x5x24xf16>
  }
}
