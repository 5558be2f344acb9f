// bilinear_f16: f16 5x6, f16 5x7, f16 8x6x7, f16 8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, 0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
#map8 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<5x6xf16>, %arg1: tensor<5x7xf16>, %arg2: tensor<8x6x7xf16>, %arg3: tensor<8xf16>) -> tensor<5x8xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %expanded = tensor.expand_shape %arg0 [[0], [1, 2, 3]] output_shape [5, 1, 6, 1] : tensor<5x6xf16> into tensor<5x1x6x1xf16>
    %expanded_0 = tensor.expand_shape %arg2 [[0, 1], [2], [3]] output_shape [1, 8, 6, 7] : tensor<8x6x7xf16> into tensor<1x8x6x7xf16>
    %expanded_1 = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [5, 1, 1, 7] : tensor<5x7xf16> into tensor<5x1x1x7xf16>
    %0 = tensor.empty() : tensor<5x8x6x7xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_0 : tensor<5x1x6x1xf16>, tensor<1x8x6x7xf16>) outs(%0 : tensor<5x8x6x7xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %10 = arith.mulf %in, %in_2 : f16
      linalg.yield %10 : f16
    } -> tensor<5x8x6x7xf16>
    %2 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %expanded_1 : tensor<5x8x6x7xf16>, tensor<5x1x1x7xf16>) outs(%0 : tensor<5x8x6x7xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %10 = arith.mulf %in, %in_2 : f16
      linalg.yield %10 : f16
    } -> tensor<5x8x6x7xf16>
    %3 = tensor.empty() : tensor<5x8x6xf16>
    %4 = linalg.fill ins(%cst : f16) outs(%3 : tensor<5x8x6xf16>) -> tensor<5x8x6xf16>
    %5 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%2 : tensor<5x8x6x7xf16>) outs(%4 : tensor<5x8x6xf16>) {
    ^bb0(%in: f16, %out: f16):
      %10 = arith.addf %in, %out : f16
      linalg.yield %10 : f16
    } -> tensor<5x8x6xf16>
    %6 = tensor.empty() : tensor<5x8xf16>
    %7 = linalg.fill ins(%cst : f16) outs(%6 : tensor<5x8xf16>) -> tensor<5x8xf16>
    %8 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%5 : tensor<5x8x6xf16>) outs(%7 : tensor<5x8xf16>) {
    ^bb0(%in: f16, %out: f16):
      %10 = arith.addf %in, %out : f16
      linalg.yield %10 : f16
    } -> tensor<5x8xf16>
    %9 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel"]} ins(%8, %arg3 : tensor<5x8xf16>, tensor<8xf16>) outs(%6 : tensor<5x8xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %10 = arith.addf %in, %in_2 : f16
      linalg.yield %10 : f16
    } -> tensor<5x8xf16>
    return %9 : tensor<5x8xf16>
  }
}
