#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<2048x4096xbf16>, %arg1: tensor<4096xbf16>, %arg2: tensor<6144x4096xbf16>) -> tensor<2048x6144xbf16> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 9.9999999999999995E-7 : f64
    %cst_1 = arith.constant 4.096000e+03 : f32
    %0 = tensor.empty() : tensor<2048x4096xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<2048x4096xbf16>) outs(%0 : tensor<2048x4096xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %19 = arith.extf %in : bf16 to f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2048x4096xf32>) outs(%0 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %3 = tensor.empty() : tensor<2048x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<2048x1xf32>) -> tensor<2048x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<2048x4096xf32>) outs(%4 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<2048x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2048x1xf32>) outs(%3 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.divf %in, %cst_1 : f32
      linalg.yield %19 : f32
    } -> tensor<2048x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<2048x1xf32>) outs(%3 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.truncf %cst_0 : f64 to f32
      %20 = arith.addf %in, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<2048x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<2048x1xf32>) outs(%3 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.rsqrt %in : f32
      linalg.yield %19 : f32
    } -> tensor<2048x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %8 : tensor<2048x4096xf32>, tensor<2048x1xf32>) outs(%0 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %19 = arith.mulf %in, %in_2 : f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %10 = tensor.empty() : tensor<2048x4096xbf16>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<2048x4096xf32>) outs(%10 : tensor<2048x4096xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %19 = arith.truncf %in : f32 to bf16
      linalg.yield %19 : bf16
    } -> tensor<2048x4096xbf16>
    %12 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %11 : tensor<4096xbf16>, tensor<2048x4096xbf16>) outs(%10 : tensor<2048x4096xbf16>) {
    ^bb0(%in: bf16, %in_2: bf16, %out: bf16):
      %19 = arith.mulf %in, %in_2 : bf16
      linalg.yield %19 : bf16
    } -> tensor<2048x4096xbf16>
    %13 = tensor.empty() : tensor<4096x6144xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<6144x4096xbf16>) outs(%13 : tensor<4096x6144xbf16>) permutation = [1, 0] 
    %14 = tensor.empty() : tensor<2048x6144xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<2048x6144xf32>) -> tensor<2048x6144xf32>
    %16 = linalg.matmul ins(%12, %transposed : tensor<2048x4096xbf16>, tensor<4096x6144xbf16>) outs(%15 : tensor<2048x6144xf32>) -> tensor<2048x6144xf32>
    %17 = tensor.empty() : tensor<2048x6144xbf16>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<2048x6144xf32>) outs(%17 : tensor<2048x6144xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %19 = arith.truncf %in : f32 to bf16
      linalg.yield %19 : bf16
    } -> tensor<2048x6144xbf16>
    return %18 : tensor<2048x6144xbf16>
  }
}
