#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<1x4096xbf16>, %arg1: tensor<14336x4096xi8>, %arg2: tensor<14336xbf16>) -> tensor<1x14336xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<14336x4096xbf16>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<14336x4096xi8>) outs(%0 : tensor<14336x4096xbf16>) {
    ^bb0(%in: i8, %out: bf16):
      %9 = arith.sitofp %in : i8 to bf16
      linalg.yield %9 : bf16
    } -> tensor<14336x4096xbf16>
    %2 = tensor.empty() : tensor<4096x14336xbf16>
    %transposed = linalg.transpose ins(%1 : tensor<14336x4096xbf16>) outs(%2 : tensor<4096x14336xbf16>) permutation = [1, 0] 
    %3 = tensor.empty() : tensor<1x14336xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<1x14336xf32>) -> tensor<1x14336xf32>
    %5 = linalg.matmul ins(%arg0, %transposed : tensor<1x4096xbf16>, tensor<4096x14336xbf16>) outs(%4 : tensor<1x14336xf32>) -> tensor<1x14336xf32>
    %6 = tensor.empty() : tensor<1x14336xbf16>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<1x14336xf32>) outs(%6 : tensor<1x14336xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %9 = arith.truncf %in : f32 to bf16
      linalg.yield %9 : bf16
    } -> tensor<1x14336xbf16>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %arg2 : tensor<1x14336xbf16>, tensor<14336xbf16>) outs(%6 : tensor<1x14336xbf16>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
      %9 = arith.mulf %in, %in_0 : bf16
      linalg.yield %9 : bf16
    } -> tensor<1x14336xbf16>
    return %8 : tensor<1x14336xbf16>
  }
}
