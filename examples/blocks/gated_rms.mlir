#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<1024x2048xbf16>, %arg1: tensor<2048xbf16>, %arg2: tensor<5632x2048xbf16>, %arg3: tensor<5632x2048xbf16>, %arg4: tensor<2048x5632xbf16>) -> tensor<1024x2048xbf16> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 2.048000e+03 : f32
    %0 = tensor.empty() : tensor<1024x2048xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<1024x2048xbf16>) outs(%0 : tensor<1024x2048xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %31 = arith.extf %in : bf16 to f32
      linalg.yield %31 : f32
    } -> tensor<1024x2048xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<1024x2048xf32>) outs(%0 : tensor<1024x2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %31 : f32
    } -> tensor<1024x2048xf32>
    %3 = tensor.empty() : tensor<1024x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<1024x1xf32>) -> tensor<1024x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<1024x2048xf32>) outs(%4 : tensor<1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.addf %in, %out : f32
      linalg.yield %31 : f32
    } -> tensor<1024x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<1024x1xf32>) outs(%3 : tensor<1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.divf %in, %cst_2 : f32
      linalg.yield %31 : f32
    } -> tensor<1024x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<1024x1xf32>) outs(%3 : tensor<1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.truncf %cst_1 : f64 to f32
      %32 = arith.addf %in, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<1024x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<1024x1xf32>) outs(%3 : tensor<1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = math.rsqrt %in : f32
      linalg.yield %31 : f32
    } -> tensor<1024x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %8 : tensor<1024x2048xf32>, tensor<1024x1xf32>) outs(%0 : tensor<1024x2048xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.mulf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1024x2048xf32>
    %10 = tensor.empty() : tensor<1024x2048xbf16>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<1024x2048xf32>) outs(%10 : tensor<1024x2048xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %31 = arith.truncf %in : f32 to bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x2048xbf16>
    %12 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %11 : tensor<2048xbf16>, tensor<1024x2048xbf16>) outs(%10 : tensor<1024x2048xbf16>) {
    ^bb0(%in: bf16, %in_5: bf16, %out: bf16):
      %31 = arith.mulf %in, %in_5 : bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x2048xbf16>
    %13 = tensor.empty() : tensor<2048x5632xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<5632x2048xbf16>) outs(%13 : tensor<2048x5632xbf16>) permutation = [1, 0] 
    %14 = tensor.empty() : tensor<1024x5632xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<1024x5632xf32>) -> tensor<1024x5632xf32>
    %16 = linalg.matmul ins(%12, %transposed : tensor<1024x2048xbf16>, tensor<2048x5632xbf16>) outs(%15 : tensor<1024x5632xf32>) -> tensor<1024x5632xf32>
    %17 = tensor.empty() : tensor<1024x5632xbf16>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<1024x5632xf32>) outs(%17 : tensor<1024x5632xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %31 = arith.truncf %in : f32 to bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x5632xbf16>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<1024x5632xbf16>) outs(%14 : tensor<1024x5632xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %31 = arith.extf %in : bf16 to f32
      linalg.yield %31 : f32
    } -> tensor<1024x5632xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<1024x5632xf32>) outs(%14 : tensor<1024x5632xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.negf %in : f32
      %32 = math.exp %31 : f32
      %33 = arith.addf %32, %cst_0 : f32
      %34 = arith.divf %cst_0, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<1024x5632xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %20 : tensor<1024x5632xf32>, tensor<1024x5632xf32>) outs(%14 : tensor<1024x5632xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.mulf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1024x5632xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<1024x5632xf32>) outs(%17 : tensor<1024x5632xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %31 = arith.truncf %in : f32 to bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x5632xbf16>
    %transposed_3 = linalg.transpose ins(%arg3 : tensor<5632x2048xbf16>) outs(%13 : tensor<2048x5632xbf16>) permutation = [1, 0] 
    %23 = linalg.matmul ins(%12, %transposed_3 : tensor<1024x2048xbf16>, tensor<2048x5632xbf16>) outs(%15 : tensor<1024x5632xf32>) -> tensor<1024x5632xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<1024x5632xf32>) outs(%17 : tensor<1024x5632xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %31 = arith.truncf %in : f32 to bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x5632xbf16>
    %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %24 : tensor<1024x5632xbf16>, tensor<1024x5632xbf16>) outs(%17 : tensor<1024x5632xbf16>) {
    ^bb0(%in: bf16, %in_5: bf16, %out: bf16):
      %31 = arith.mulf %in, %in_5 : bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x5632xbf16>
    %26 = tensor.empty() : tensor<5632x2048xbf16>
    %transposed_4 = linalg.transpose ins(%arg4 : tensor<2048x5632xbf16>) outs(%26 : tensor<5632x2048xbf16>) permutation = [1, 0] 
    %27 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
    %28 = linalg.matmul ins(%25, %transposed_4 : tensor<1024x5632xbf16>, tensor<5632x2048xbf16>) outs(%27 : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<1024x2048xf32>) outs(%10 : tensor<1024x2048xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %31 = arith.truncf %in : f32 to bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x2048xbf16>
    %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %29 : tensor<1024x2048xbf16>, tensor<1024x2048xbf16>) outs(%10 : tensor<1024x2048xbf16>) {
    ^bb0(%in: bf16, %in_5: bf16, %out: bf16):
      %31 = arith.addf %in, %in_5 : bf16
      linalg.yield %31 : bf16
    } -> tensor<1024x2048xbf16>
    return %30 : tensor<1024x2048xbf16>
  }
}
