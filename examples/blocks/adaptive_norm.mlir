#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
module {
  func.func @main(%arg0: tensor<16x256x1152xbf16>, %arg1: tensor<16x1152xbf16>, %arg2: tensor<2304x1152xbf16>, %arg3: tensor<2304xbf16>) -> tensor<16x256x1152xbf16> {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %cst_2 = arith.constant 1.000000e-05 : f64
    %cst_3 = arith.constant 1.152000e+03 : f64
    %cst_4 = arith.constant 1.152000e+03 : f32
    %cst_5 = arith.constant 1.000000e+00 : bf16
    %0 = tensor.empty() : tensor<16x1152xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<16x1152xbf16>) outs(%0 : tensor<16x1152xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %45 = arith.extf %in : bf16 to f32
      linalg.yield %45 : f32
    } -> tensor<16x1152xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<16x1152xf32>) outs(%0 : tensor<16x1152xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.negf %in : f32
      %46 = math.exp %45 : f32
      %47 = arith.addf %46, %cst : f32
      %48 = arith.divf %cst, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<16x1152xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<16x1152xf32>, tensor<16x1152xf32>) outs(%0 : tensor<16x1152xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %45 = arith.mulf %in, %in_8 : f32
      linalg.yield %45 : f32
    } -> tensor<16x1152xf32>
    %4 = tensor.empty() : tensor<16x1152xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<16x1152xf32>) outs(%4 : tensor<16x1152xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %45 = arith.truncf %in : f32 to bf16
      linalg.yield %45 : bf16
    } -> tensor<16x1152xbf16>
    %6 = tensor.empty() : tensor<1152x2304xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<2304x1152xbf16>) outs(%6 : tensor<1152x2304xbf16>) permutation = [1, 0] 
    %7 = tensor.empty() : tensor<2304xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%arg3 : tensor<2304xbf16>) outs(%7 : tensor<2304xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %45 = arith.extf %in : bf16 to f32
      linalg.yield %45 : f32
    } -> tensor<2304xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<16x1152xbf16>) outs(%0 : tensor<16x1152xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %45 = arith.extf %in : bf16 to f32
      linalg.yield %45 : f32
    } -> tensor<16x1152xf32>
    %10 = tensor.empty() : tensor<1152x2304xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<1152x2304xbf16>) outs(%10 : tensor<1152x2304xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %45 = arith.extf %in : bf16 to f32
      linalg.yield %45 : f32
    } -> tensor<1152x2304xf32>
    %12 = tensor.empty() : tensor<16x2304xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<16x2304xf32>) -> tensor<16x2304xf32>
    %14 = linalg.matmul ins(%9, %11 : tensor<16x1152xf32>, tensor<1152x2304xf32>) outs(%13 : tensor<16x2304xf32>) -> tensor<16x2304xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%14, %8 : tensor<16x2304xf32>, tensor<2304xf32>) outs(%12 : tensor<16x2304xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %45 = arith.addf %in, %in_8 : f32
      linalg.yield %45 : f32
    } -> tensor<16x2304xf32>
    %16 = tensor.empty() : tensor<16x2304xbf16>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<16x2304xf32>) outs(%16 : tensor<16x2304xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %45 = arith.truncf %in : f32 to bf16
      linalg.yield %45 : bf16
    } -> tensor<16x2304xbf16>
    %extracted_slice = tensor.extract_slice %17[0, 0] [16, 1152] [1, 1] : tensor<16x2304xbf16> to tensor<16x1152xbf16>
    %extracted_slice_6 = tensor.extract_slice %17[0, 1152] [16, 1152] [1, 1] : tensor<16x2304xbf16> to tensor<16x1152xbf16>
    %18 = tensor.empty() : tensor<16x256x1152xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<16x256x1152xbf16>) outs(%18 : tensor<16x256x1152xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %45 = arith.extf %in : bf16 to f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1152xf32>
    %20 = tensor.empty() : tensor<16x256x1152xf64>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<16x256x1152xf32>) outs(%20 : tensor<16x256x1152xf64>) {
    ^bb0(%in: f32, %out: f64):
      %45 = arith.extf %in : f32 to f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1152xf64>
    %22 = tensor.empty() : tensor<16x256x1xf64>
    %23 = linalg.fill ins(%cst_1 : f64) outs(%22 : tensor<16x256x1xf64>) -> tensor<16x256x1xf64>
    %24 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21 : tensor<16x256x1152xf64>) outs(%23 : tensor<16x256x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %45 = arith.addf %in, %out : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1xf64>
    %25 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<16x256x1xf64>) outs(%22 : tensor<16x256x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %45 = arith.divf %in, %cst_3 : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1xf64>
    %26 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %25 : tensor<16x256x1152xf64>, tensor<16x256x1xf64>) outs(%20 : tensor<16x256x1152xf64>) {
    ^bb0(%in: f64, %in_8: f64, %out: f64):
      %45 = arith.subf %in, %in_8 : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1152xf64>
    %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %26 : tensor<16x256x1152xf64>, tensor<16x256x1152xf64>) outs(%20 : tensor<16x256x1152xf64>) {
    ^bb0(%in: f64, %in_8: f64, %out: f64):
      %45 = arith.mulf %in, %in_8 : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1152xf64>
    %28 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%27 : tensor<16x256x1152xf64>) outs(%23 : tensor<16x256x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %45 = arith.addf %in, %out : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1xf64>
    %29 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<16x256x1xf64>) outs(%22 : tensor<16x256x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %45 = arith.divf %in, %cst_3 : f64
      linalg.yield %45 : f64
    } -> tensor<16x256x1xf64>
    %30 = tensor.empty() : tensor<16x256x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<16x256x1xf64>) outs(%30 : tensor<16x256x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %45 = arith.truncf %in : f64 to f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1xf32>
    %32 = linalg.fill ins(%cst_0 : f32) outs(%30 : tensor<16x256x1xf32>) -> tensor<16x256x1xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%19 : tensor<16x256x1152xf32>) outs(%32 : tensor<16x256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.addf %in, %out : f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33 : tensor<16x256x1xf32>) outs(%30 : tensor<16x256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.divf %in, %cst_4 : f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<16x256x1xf32>) outs(%30 : tensor<16x256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.truncf %cst_2 : f64 to f32
      %46 = arith.addf %in, %45 : f32
      linalg.yield %46 : f32
    } -> tensor<16x256x1xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<16x256x1xf32>) outs(%30 : tensor<16x256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = math.rsqrt %in : f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %34 : tensor<16x256x1152xf32>, tensor<16x256x1xf32>) outs(%18 : tensor<16x256x1152xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %45 = arith.subf %in, %in_8 : f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1152xf32>
    %38 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %36 : tensor<16x256x1152xf32>, tensor<16x256x1xf32>) outs(%18 : tensor<16x256x1152xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %45 = arith.mulf %in, %in_8 : f32
      linalg.yield %45 : f32
    } -> tensor<16x256x1152xf32>
    %39 = tensor.empty() : tensor<16x256x1152xbf16>
    %40 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<16x256x1152xf32>) outs(%39 : tensor<16x256x1152xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %45 = arith.truncf %in : f32 to bf16
      linalg.yield %45 : bf16
    } -> tensor<16x256x1152xbf16>
    %expanded = tensor.expand_shape %extracted_slice [[0], [1, 2]] output_shape [16, 1, 1152] : tensor<16x1152xbf16> into tensor<16x1x1152xbf16>
    %41 = tensor.empty() : tensor<16x1x1152xbf16>
    %42 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<16x1x1152xbf16>) outs(%41 : tensor<16x1x1152xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %45 = arith.addf %in, %cst_5 : bf16
      linalg.yield %45 : bf16
    } -> tensor<16x1x1152xbf16>
    %43 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %42 : tensor<16x256x1152xbf16>, tensor<16x1x1152xbf16>) outs(%39 : tensor<16x256x1152xbf16>) {
    ^bb0(%in: bf16, %in_8: bf16, %out: bf16):
      %45 = arith.mulf %in, %in_8 : bf16
      linalg.yield %45 : bf16
    } -> tensor<16x256x1152xbf16>
    %expanded_7 = tensor.expand_shape %extracted_slice_6 [[0], [1, 2]] output_shape [16, 1, 1152] : tensor<16x1152xbf16> into tensor<16x1x1152xbf16>
    %44 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %expanded_7 : tensor<16x256x1152xbf16>, tensor<16x1x1152xbf16>) outs(%39 : tensor<16x256x1152xbf16>) {
    ^bb0(%in: bf16, %in_8: bf16, %out: bf16):
      %45 = arith.addf %in, %in_8 : bf16
      linalg.yield %45 : bf16
    } -> tensor<16x256x1152xbf16>
    return %44 : tensor<16x256x1152xbf16>
  }
}
