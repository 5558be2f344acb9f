// attention_products: 2x3x9x16 float16, 2x3x11x16 float16, 2x3x11x16 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x3x9x16xf16>, %arg1: tensor<2x3x11x16xf16>, %arg2: tensor<2x3x11x16xf16>) -> tensor<2x3x9x16xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.500000e-01 : f16
    %0 = tensor.empty() : tensor<2x3x16x11xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x3x11x16xf16>) outs(%0 : tensor<2x3x16x11xf16>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x3x9x16xf16> into tensor<6x9x16xf16>
    %collapsed_1 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x3x16x11xf16> into tensor<6x16x11xf16>
    %1 = tensor.empty() : tensor<6x9x11xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<6x9x11xf32>) -> tensor<6x9x11xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_1 : tensor<6x9x16xf16>, tensor<6x16x11xf16>) outs(%2 : tensor<6x9x11xf32>) -> tensor<6x9x11xf32>
    %4 = tensor.empty() : tensor<6x9x11xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<6x9x11xf32>) outs(%4 : tensor<6x9x11xf16>) {
    ^bb0(%in: f32, %out: f16):
      %13 = arith.truncf %in : f32 to f16
      linalg.yield %13 : f16
    } -> tensor<6x9x11xf16>
    %expanded = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [2, 3, 9, 11] : tensor<6x9x11xf16> into tensor<2x3x9x11xf16>
    %6 = tensor.empty() : tensor<2x3x9x11xf16>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x3x9x11xf16>) outs(%6 : tensor<2x3x9x11xf16>) {
    ^bb0(%in: f16, %out: f16):
      %13 = arith.mulf %in, %cst_0 : f16
      linalg.yield %13 : f16
    } -> tensor<2x3x9x11xf16>
    %collapsed_2 = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<2x3x9x11xf16> into tensor<6x9x11xf16>
    %collapsed_3 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x3x11x16xf16> into tensor<6x11x16xf16>
    %8 = tensor.empty() : tensor<6x9x16xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<6x9x16xf32>) -> tensor<6x9x16xf32>
    %10 = linalg.batch_matmul ins(%collapsed_2, %collapsed_3 : tensor<6x9x11xf16>, tensor<6x11x16xf16>) outs(%9 : tensor<6x9x16xf32>) -> tensor<6x9x16xf32>
    %11 = tensor.empty() : tensor<6x9x16xf16>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<6x9x16xf32>) outs(%11 : tensor<6x9x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %13 = arith.truncf %in : f32 to f16
      linalg.yield %13 : f16
    } -> tensor<6x9x16xf16>
    %expanded_4 = tensor.expand_shape %12 [[0, 1], [2], [3]] output_shape [2, 3, 9, 16] : tensor<6x9x16xf16> into tensor<2x3x9x16xf16>
    return %expanded_4 : tensor<2x3x9x16xf16>
  }
}
