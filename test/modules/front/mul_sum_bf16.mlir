// mul_sum_bf16: bf16 6x16, bf16 8x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<6x16xbf16>, %arg1: tensor<8x16xbf16>) -> tensor<6x8xbf16> {
    %cst = arith.constant 0.000000e+00 : bf16
    %expanded = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [6, 1, 16] : tensor<6x16xbf16> into tensor<6x1x16xbf16>
    %expanded_0 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [1, 8, 16] : tensor<8x16xbf16> into tensor<1x8x16xbf16>
    %0 = tensor.empty() : tensor<6x8x16xbf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %expanded_0 : tensor<6x1x16xbf16>, tensor<1x8x16xbf16>) outs(%0 : tensor<6x8x16xbf16>) {
    ^bb0(%in: bf16, %in_1: bf16, %out: bf16):
      %5 = arith.mulf %in, %in_1 : bf16
      linalg.yield %5 : bf16
    } -> tensor<6x8x16xbf16>
    %2 = tensor.empty() : tensor<6x8xbf16>
    %3 = linalg.fill ins(%cst : bf16) outs(%2 : tensor<6x8xbf16>) -> tensor<6x8xbf16>
    %4 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<6x8x16xbf16>) outs(%3 : tensor<6x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %5 = arith.addf %in, %out : bf16
      linalg.yield %5 : bf16
    } -> tensor<6x8xbf16>
    return %4 : tensor<6x8xbf16>
  }
}
