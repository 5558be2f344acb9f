#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @linear_gelu(%arg0: tensor<2x50x64xf16>, %arg1: tensor<96x64xf16>, %arg2: tensor<96xf16>) -> tensor<2x50x96xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f16
    %cst_1 = arith.constant 2.000000e+00 : f16
    %cst_2 = arith.constant 5.000000e-01 : f16
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x50x64xf16> into tensor<100x64xf16>
    %0 = tensor.empty() : tensor<64x96xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<96x64xf16>) outs(%0 : tensor<64x96xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<96xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<96xf16>) outs(%1 : tensor<96xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<96xf32>
    %3 = tensor.empty() : tensor<100x64xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<100x64xf16>) outs(%3 : tensor<100x64xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<100x64xf32>
    %5 = tensor.empty() : tensor<64x96xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<64x96xf16>) outs(%5 : tensor<64x96xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<64x96xf32>
    %7 = tensor.empty() : tensor<100x96xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<100x96xf32>) -> tensor<100x96xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<100x64xf32>, tensor<64x96xf32>) outs(%8 : tensor<100x96xf32>) -> tensor<100x96xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<100x96xf32>, tensor<96xf32>) outs(%7 : tensor<100x96xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %15 = arith.addf %in, %in_3 : f32
      linalg.yield %15 : f32
    } -> tensor<100x96xf32>
    %11 = tensor.empty() : tensor<100x96xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<100x96xf32>) outs(%11 : tensor<100x96xf16>) {
    ^bb0(%in: f32, %out: f16):
      %15 = arith.truncf %in : f32 to f16
      linalg.yield %15 : f16
    } -> tensor<100x96xf16>
    %expanded = tensor.expand_shape %12 [[0, 1], [2]] output_shape [2, 50, 96] : tensor<100x96xf16> into tensor<2x50x96xf16>
    %13 = tensor.empty() : tensor<2x50x96xf16>
    %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x50x96xf16>) outs(%13 : tensor<2x50x96xf16>) {
    ^bb0(%in: f16, %out: f16):
      %15 = math.sqrt %cst_1 : f16
      %16 = arith.divf %in, %15 : f16
      %17 = math.erf %16 : f16
      %18 = arith.addf %17, %cst_0 : f16
      %19 = arith.mulf %18, %cst_2 : f16
      %20 = arith.mulf %in, %19 : f16
      linalg.yield %20 : f16
    } -> tensor<2x50x96xf16>
    return %14 : tensor<2x50x96xf16>
  }
}
