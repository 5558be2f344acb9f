#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<2048x1024xf16>, %arg1: tensor<1024xf16>, %arg2: tensor<1024xf16>, %arg3: tensor<4096x1024xf16>, %arg4: tensor<4096xf16>) -> tensor<2048x4096xf16> {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 1.024000e+03 : f64
    %cst_3 = arith.constant 1.024000e+03 : f32
    %0 = tensor.empty() : tensor<2048x1024xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<2048x1024xf16>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %37 = arith.extf %in : f16 to f32
      linalg.yield %37 : f32
    } -> tensor<2048x1024xf32>
    %2 = tensor.empty() : tensor<2048x1024xf64>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2048x1024xf32>) outs(%2 : tensor<2048x1024xf64>) {
    ^bb0(%in: f32, %out: f64):
      %37 = arith.extf %in : f32 to f64
      linalg.yield %37 : f64
    } -> tensor<2048x1024xf64>
    %4 = tensor.empty() : tensor<2048x1xf64>
    %5 = linalg.fill ins(%cst : f64) outs(%4 : tensor<2048x1xf64>) -> tensor<2048x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<2048x1024xf64>) outs(%5 : tensor<2048x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %37 = arith.addf %in, %out : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<2048x1xf64>) outs(%4 : tensor<2048x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %37 = arith.divf %in, %cst_2 : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %7 : tensor<2048x1024xf64>, tensor<2048x1xf64>) outs(%2 : tensor<2048x1024xf64>) {
    ^bb0(%in: f64, %in_4: f64, %out: f64):
      %37 = arith.subf %in, %in_4 : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1024xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %8 : tensor<2048x1024xf64>, tensor<2048x1024xf64>) outs(%2 : tensor<2048x1024xf64>) {
    ^bb0(%in: f64, %in_4: f64, %out: f64):
      %37 = arith.mulf %in, %in_4 : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1024xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<2048x1024xf64>) outs(%5 : tensor<2048x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %37 = arith.addf %in, %out : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<2048x1xf64>) outs(%4 : tensor<2048x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %37 = arith.divf %in, %cst_2 : f64
      linalg.yield %37 : f64
    } -> tensor<2048x1xf64>
    %12 = tensor.empty() : tensor<2048x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<2048x1xf64>) outs(%12 : tensor<2048x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %37 = arith.truncf %in : f64 to f32
      linalg.yield %37 : f32
    } -> tensor<2048x1xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<2048x1xf32>) -> tensor<2048x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<2048x1024xf32>) outs(%14 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %in, %out : f32
      linalg.yield %37 : f32
    } -> tensor<2048x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<2048x1xf32>) outs(%12 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.divf %in, %cst_3 : f32
      linalg.yield %37 : f32
    } -> tensor<2048x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<2048x1xf32>) outs(%12 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.truncf %cst_1 : f64 to f32
      %38 = arith.addf %in, %37 : f32
      linalg.yield %38 : f32
    } -> tensor<2048x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<2048x1xf32>) outs(%12 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = math.rsqrt %in : f32
      linalg.yield %37 : f32
    } -> tensor<2048x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %16 : tensor<2048x1024xf32>, tensor<2048x1xf32>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %37 = arith.subf %in, %in_4 : f32
      linalg.yield %37 : f32
    } -> tensor<2048x1024xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %18 : tensor<2048x1024xf32>, tensor<2048x1xf32>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %37 = arith.mulf %in, %in_4 : f32
      linalg.yield %37 : f32
    } -> tensor<2048x1024xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %arg1 : tensor<2048x1024xf32>, tensor<1024xf16>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f32, %in_4: f16, %out: f32):
      %37 = arith.extf %in_4 : f16 to f32
      %38 = arith.mulf %in, %37 : f32
      linalg.yield %38 : f32
    } -> tensor<2048x1024xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %arg2 : tensor<2048x1024xf32>, tensor<1024xf16>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f32, %in_4: f16, %out: f32):
      %37 = arith.extf %in_4 : f16 to f32
      %38 = arith.addf %in, %37 : f32
      linalg.yield %38 : f32
    } -> tensor<2048x1024xf32>
    %23 = tensor.empty() : tensor<2048x1024xf16>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<2048x1024xf32>) outs(%23 : tensor<2048x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %37 = arith.truncf %in : f32 to f16
      linalg.yield %37 : f16
    } -> tensor<2048x1024xf16>
    %25 = tensor.empty() : tensor<1024x4096xf16>
    %transposed = linalg.transpose ins(%arg3 : tensor<4096x1024xf16>) outs(%25 : tensor<1024x4096xf16>) permutation = [1, 0] 
    %26 = tensor.empty() : tensor<4096xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg4 : tensor<4096xf16>) outs(%26 : tensor<4096xf32>) {
    ^bb0(%in: f16, %out: f32):
      %37 = arith.extf %in : f16 to f32
      linalg.yield %37 : f32
    } -> tensor<4096xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<2048x1024xf16>) outs(%0 : tensor<2048x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %37 = arith.extf %in : f16 to f32
      linalg.yield %37 : f32
    } -> tensor<2048x1024xf32>
    %29 = tensor.empty() : tensor<1024x4096xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<1024x4096xf16>) outs(%29 : tensor<1024x4096xf32>) {
    ^bb0(%in: f16, %out: f32):
      %37 = arith.extf %in : f16 to f32
      linalg.yield %37 : f32
    } -> tensor<1024x4096xf32>
    %31 = tensor.empty() : tensor<2048x4096xf32>
    %32 = linalg.fill ins(%cst_0 : f32) outs(%31 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %33 = linalg.matmul ins(%28, %30 : tensor<2048x1024xf32>, tensor<1024x4096xf32>) outs(%32 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %27 : tensor<2048x4096xf32>, tensor<4096xf32>) outs(%31 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %37 = arith.addf %in, %in_4 : f32
      linalg.yield %37 : f32
    } -> tensor<2048x4096xf32>
    %35 = tensor.empty() : tensor<2048x4096xf16>
    %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<2048x4096xf32>) outs(%35 : tensor<2048x4096xf16>) {
    ^bb0(%in: f32, %out: f16):
      %37 = arith.truncf %in : f32 to f16
      linalg.yield %37 : f16
    } -> tensor<2048x4096xf16>
    return %36 : tensor<2048x4096xf16>
  }
}
