#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<8x512x768xf16>, %arg1: tensor<8x1x1x512xf16>, %arg2: tensor<768x768xf16>, %arg3: tensor<768xf16>, %arg4: tensor<768x768xf16>, %arg5: tensor<768xf16>, %arg6: tensor<768x768xf16>, %arg7: tensor<768xf16>, %arg8: tensor<768x768xf16>, %arg9: tensor<768xf16>, %arg10: tensor<768xf16>, %arg11: tensor<768xf16>, %arg12: tensor<3072x768xf16>, %arg13: tensor<3072xf16>, %arg14: tensor<768x3072xf16>, %arg15: tensor<768xf16>, %arg16: tensor<768xf16>, %arg17: tensor<768xf16>) -> tensor<8x512x768xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %cst_2 = arith.constant 1.000000e+00 : f16
    %cst_3 = arith.constant 2.000000e+00 : f16
    %cst_4 = arith.constant 5.000000e-01 : f16
    %cst_5 = arith.constant 1.000000e-05 : f64
    %cst_6 = arith.constant 1.250000e-01 : f16
    %cst_7 = arith.constant 7.680000e+02 : f64
    %cst_8 = arith.constant 7.680000e+02 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<8x512x768xf16> into tensor<4096x768xf16>
    %0 = tensor.empty() : tensor<768x768xf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<768x768xf16>) outs(%0 : tensor<768x768xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<768xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg3 : tensor<768xf16>) outs(%1 : tensor<768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768xf32>
    %3 = tensor.empty() : tensor<4096x768xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<4096x768xf16>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %5 = tensor.empty() : tensor<768x768xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<768x768xf16>) outs(%5 : tensor<768x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768x768xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%3 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %8 = linalg.matmul ins(%4, %6 : tensor<4096x768xf32>, tensor<768x768xf32>) outs(%7 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %2 : tensor<4096x768xf32>, tensor<768xf32>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %10 = tensor.empty() : tensor<4096x768xf16>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<4096x768xf32>) outs(%10 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x768xf16>
    %transposed_9 = linalg.transpose ins(%arg4 : tensor<768x768xf16>) outs(%0 : tensor<768x768xf16>) permutation = [1, 0] 
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg5 : tensor<768xf16>) outs(%1 : tensor<768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_9 : tensor<768x768xf16>) outs(%5 : tensor<768x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768x768xf32>
    %14 = linalg.matmul ins(%4, %13 : tensor<4096x768xf32>, tensor<768x768xf32>) outs(%7 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%14, %12 : tensor<4096x768xf32>, tensor<768xf32>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<4096x768xf32>) outs(%10 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x768xf16>
    %transposed_10 = linalg.transpose ins(%arg6 : tensor<768x768xf16>) outs(%0 : tensor<768x768xf16>) permutation = [1, 0] 
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg7 : tensor<768xf16>) outs(%1 : tensor<768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_10 : tensor<768x768xf16>) outs(%5 : tensor<768x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768x768xf32>
    %19 = linalg.matmul ins(%4, %18 : tensor<4096x768xf32>, tensor<768x768xf32>) outs(%7 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%19, %17 : tensor<4096x768xf32>, tensor<768xf32>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<4096x768xf32>) outs(%10 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x768xf16>
    %expanded = tensor.expand_shape %11 [[0, 1], [2, 3]] output_shape [8, 512, 12, 64] : tensor<4096x768xf16> into tensor<8x512x12x64xf16>
    %22 = tensor.empty() : tensor<8x12x512x64xf16>
    %transposed_11 = linalg.transpose ins(%expanded : tensor<8x512x12x64xf16>) outs(%22 : tensor<8x12x512x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_12 = tensor.expand_shape %16 [[0, 1], [2, 3]] output_shape [8, 512, 12, 64] : tensor<4096x768xf16> into tensor<8x512x12x64xf16>
    %expanded_13 = tensor.expand_shape %21 [[0, 1], [2, 3]] output_shape [8, 512, 12, 64] : tensor<4096x768xf16> into tensor<8x512x12x64xf16>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<8x512x12x64xf16>) outs(%22 : tensor<8x12x512x64xf16>) permutation = [0, 2, 1, 3] 
    %23 = tensor.empty() : tensor<8x12x64x512xf16>
    %transposed_15 = linalg.transpose ins(%expanded_12 : tensor<8x512x12x64xf16>) outs(%23 : tensor<8x12x64x512xf16>) permutation = [0, 2, 3, 1] 
    %collapsed_16 = tensor.collapse_shape %transposed_11 [[0, 1], [2], [3]] : tensor<8x12x512x64xf16> into tensor<96x512x64xf16>
    %collapsed_17 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<8x12x64x512xf16> into tensor<96x64x512xf16>
    %24 = tensor.empty() : tensor<96x512x512xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<96x512x512xf32>) -> tensor<96x512x512xf32>
    %26 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<96x512x64xf16>, tensor<96x64x512xf16>) outs(%25 : tensor<96x512x512xf32>) -> tensor<96x512x512xf32>
    %27 = tensor.empty() : tensor<96x512x512xf16>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<96x512x512xf32>) outs(%27 : tensor<96x512x512xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<96x512x512xf16>
    %expanded_18 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [8, 12, 512, 512] : tensor<96x512x512xf16> into tensor<8x12x512x512xf16>
    %29 = tensor.empty() : tensor<8x12x512x512xf16>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<8x12x512x512xf16>) outs(%29 : tensor<8x12x512x512xf16>) {
    ^bb0(%in: f16, %out: f16):
      %125 = arith.mulf %in, %cst_6 : f16
      linalg.yield %125 : f16
    } -> tensor<8x12x512x512xf16>
    %31 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %arg1 : tensor<8x12x512x512xf16>, tensor<8x1x1x512xf16>) outs(%29 : tensor<8x12x512x512xf16>) {
    ^bb0(%in: f16, %in_33: f16, %out: f16):
      %125 = arith.addf %in, %in_33 : f16
      linalg.yield %125 : f16
    } -> tensor<8x12x512x512xf16>
    %32 = tensor.empty() : tensor<8x12x512x512xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<8x12x512x512xf16>) outs(%32 : tensor<8x12x512x512xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<8x12x512x512xf32>
    %34 = tensor.empty() : tensor<8x12x512xi64>
    %35 = linalg.fill ins(%c0_i64 : i64) outs(%34 : tensor<8x12x512xi64>) -> tensor<8x12x512xi64>
    %36 = tensor.empty() : tensor<8x12x512xf32>
    %37 = linalg.fill ins(%cst_0 : f32) outs(%36 : tensor<8x12x512xf32>) -> tensor<8x12x512xf32>
    %38:2 = linalg.generic {indexing_maps = [#map4, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<8x12x512x512xf32>) outs(%37, %35 : tensor<8x12x512xf32>, tensor<8x12x512xi64>) {
    ^bb0(%in: f32, %out: f32, %out_33: i64):
      %125 = linalg.index 3 : index
      %126 = arith.index_cast %125 : index to i64
      %127 = arith.maximumf %in, %out : f32
      %128 = arith.cmpf ogt, %in, %out : f32
      %129 = arith.select %128, %126, %out_33 : i64
      linalg.yield %127, %129 : f32, i64
    } -> (tensor<8x12x512xf32>, tensor<8x12x512xi64>)
    %expanded_19 = tensor.expand_shape %38#0 [[0], [1], [2, 3]] output_shape [8, 12, 512, 1] : tensor<8x12x512xf32> into tensor<8x12x512x1xf32>
    %39 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %expanded_19 : tensor<8x12x512x512xf32>, tensor<8x12x512x1xf32>) outs(%32 : tensor<8x12x512x512xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.subf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x12x512x512xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<8x12x512x512xf32>) outs(%32 : tensor<8x12x512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = math.exp %in : f32
      linalg.yield %125 : f32
    } -> tensor<8x12x512x512xf32>
    %41 = tensor.empty() : tensor<8x12x512x1xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<8x12x512x1xf32>) -> tensor<8x12x512x1xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%40 : tensor<8x12x512x512xf32>) outs(%42 : tensor<8x12x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.addf %in, %out : f32
      linalg.yield %125 : f32
    } -> tensor<8x12x512x1xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40, %43 : tensor<8x12x512x512xf32>, tensor<8x12x512x1xf32>) outs(%32 : tensor<8x12x512x512xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.divf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x12x512x512xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44 : tensor<8x12x512x512xf32>) outs(%29 : tensor<8x12x512x512xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<8x12x512x512xf16>
    %collapsed_20 = tensor.collapse_shape %45 [[0, 1], [2], [3]] : tensor<8x12x512x512xf16> into tensor<96x512x512xf16>
    %collapsed_21 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<8x12x512x64xf16> into tensor<96x512x64xf16>
    %46 = tensor.empty() : tensor<96x512x64xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<96x512x64xf32>) -> tensor<96x512x64xf32>
    %48 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<96x512x512xf16>, tensor<96x512x64xf16>) outs(%47 : tensor<96x512x64xf32>) -> tensor<96x512x64xf32>
    %49 = tensor.empty() : tensor<96x512x64xf16>
    %50 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<96x512x64xf32>) outs(%49 : tensor<96x512x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<96x512x64xf16>
    %expanded_22 = tensor.expand_shape %50 [[0, 1], [2], [3]] output_shape [8, 12, 512, 64] : tensor<96x512x64xf16> into tensor<8x12x512x64xf16>
    %51 = tensor.empty() : tensor<8x512x12x64xf16>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<8x12x512x64xf16>) outs(%51 : tensor<8x512x12x64xf16>) permutation = [0, 2, 1, 3] 
    %collapsed_24 = tensor.collapse_shape %transposed_23 [[0, 1], [2, 3]] : tensor<8x512x12x64xf16> into tensor<4096x768xf16>
    %transposed_25 = linalg.transpose ins(%arg8 : tensor<768x768xf16>) outs(%0 : tensor<768x768xf16>) permutation = [1, 0] 
    %52 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg9 : tensor<768xf16>) outs(%1 : tensor<768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_24 : tensor<4096x768xf16>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_25 : tensor<768x768xf16>) outs(%5 : tensor<768x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768x768xf32>
    %55 = linalg.matmul ins(%53, %54 : tensor<4096x768xf32>, tensor<768x768xf32>) outs(%7 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %56 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%55, %52 : tensor<4096x768xf32>, tensor<768xf32>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %57 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<4096x768xf32>) outs(%10 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x768xf16>
    %expanded_26 = tensor.expand_shape %57 [[0, 1], [2]] output_shape [8, 512, 768] : tensor<4096x768xf16> into tensor<8x512x768xf16>
    %58 = tensor.empty() : tensor<8x512x768xf16>
    %59 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_26 : tensor<8x512x768xf16>, tensor<8x512x768xf16>) outs(%58 : tensor<8x512x768xf16>) {
    ^bb0(%in: f16, %in_33: f16, %out: f16):
      %125 = arith.addf %in, %in_33 : f16
      linalg.yield %125 : f16
    } -> tensor<8x512x768xf16>
    %60 = tensor.empty() : tensor<8x512x768xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<8x512x768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %62 = tensor.empty() : tensor<8x512x768xf64>
    %63 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<8x512x768xf32>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f32, %out: f64):
      %125 = arith.extf %in : f32 to f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %64 = tensor.empty() : tensor<8x512x1xf64>
    %65 = linalg.fill ins(%cst_1 : f64) outs(%64 : tensor<8x512x1xf64>) -> tensor<8x512x1xf64>
    %66 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%63 : tensor<8x512x768xf64>) outs(%65 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.addf %in, %out : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %67 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<8x512x1xf64>) outs(%64 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.divf %in, %cst_7 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %68 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %67 : tensor<8x512x768xf64>, tensor<8x512x1xf64>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %125 = arith.subf %in, %in_33 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %69 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %68 : tensor<8x512x768xf64>, tensor<8x512x768xf64>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %125 = arith.mulf %in, %in_33 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %70 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%69 : tensor<8x512x768xf64>) outs(%65 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.addf %in, %out : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %71 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<8x512x1xf64>) outs(%64 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.divf %in, %cst_7 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %72 = tensor.empty() : tensor<8x512x1xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x512x1xf64>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %125 = arith.truncf %in : f64 to f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %74 = linalg.fill ins(%cst : f32) outs(%72 : tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
    %75 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%61 : tensor<8x512x768xf32>) outs(%74 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.addf %in, %out : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %76 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.divf %in, %cst_8 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %77 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.truncf %cst_5 : f64 to f32
      %126 = arith.addf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x1xf32>
    %78 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = math.rsqrt %in : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %79 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %76 : tensor<8x512x768xf32>, tensor<8x512x1xf32>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.subf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %80 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %78 : tensor<8x512x768xf32>, tensor<8x512x1xf32>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.mulf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %81 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %arg10 : tensor<8x512x768xf32>, tensor<768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f16, %out: f32):
      %125 = arith.extf %in_33 : f16 to f32
      %126 = arith.mulf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x768xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %arg11 : tensor<8x512x768xf32>, tensor<768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f16, %out: f32):
      %125 = arith.extf %in_33 : f16 to f32
      %126 = arith.addf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x768xf32>
    %83 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x512x768xf32>) outs(%58 : tensor<8x512x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<8x512x768xf16>
    %collapsed_27 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<8x512x768xf16> into tensor<4096x768xf16>
    %84 = tensor.empty() : tensor<768x3072xf16>
    %transposed_28 = linalg.transpose ins(%arg12 : tensor<3072x768xf16>) outs(%84 : tensor<768x3072xf16>) permutation = [1, 0] 
    %85 = tensor.empty() : tensor<3072xf32>
    %86 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg13 : tensor<3072xf16>) outs(%85 : tensor<3072xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<3072xf32>
    %87 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_27 : tensor<4096x768xf16>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %88 = tensor.empty() : tensor<768x3072xf32>
    %89 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_28 : tensor<768x3072xf16>) outs(%88 : tensor<768x3072xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768x3072xf32>
    %90 = tensor.empty() : tensor<4096x3072xf32>
    %91 = linalg.fill ins(%cst : f32) outs(%90 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %92 = linalg.matmul ins(%87, %89 : tensor<4096x768xf32>, tensor<768x3072xf32>) outs(%91 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %93 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%92, %86 : tensor<4096x3072xf32>, tensor<3072xf32>) outs(%90 : tensor<4096x3072xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x3072xf32>
    %94 = tensor.empty() : tensor<4096x3072xf16>
    %95 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%93 : tensor<4096x3072xf32>) outs(%94 : tensor<4096x3072xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x3072xf16>
    %expanded_29 = tensor.expand_shape %95 [[0, 1], [2]] output_shape [8, 512, 3072] : tensor<4096x3072xf16> into tensor<8x512x3072xf16>
    %96 = tensor.empty() : tensor<8x512x3072xf16>
    %97 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<8x512x3072xf16>) outs(%96 : tensor<8x512x3072xf16>) {
    ^bb0(%in: f16, %out: f16):
      %125 = math.sqrt %cst_3 : f16
      %126 = arith.divf %in, %125 : f16
      %127 = math.erf %126 : f16
      %128 = arith.addf %127, %cst_2 : f16
      %129 = arith.mulf %128, %cst_4 : f16
      %130 = arith.mulf %in, %129 : f16
      linalg.yield %130 : f16
    } -> tensor<8x512x3072xf16>
    %collapsed_30 = tensor.collapse_shape %97 [[0, 1], [2]] : tensor<8x512x3072xf16> into tensor<4096x3072xf16>
    %98 = tensor.empty() : tensor<3072x768xf16>
    %transposed_31 = linalg.transpose ins(%arg14 : tensor<768x3072xf16>) outs(%98 : tensor<3072x768xf16>) permutation = [1, 0] 
    %99 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg15 : tensor<768xf16>) outs(%1 : tensor<768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<768xf32>
    %100 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_30 : tensor<4096x3072xf16>) outs(%90 : tensor<4096x3072xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<4096x3072xf32>
    %101 = tensor.empty() : tensor<3072x768xf32>
    %102 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_31 : tensor<3072x768xf16>) outs(%101 : tensor<3072x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<3072x768xf32>
    %103 = linalg.matmul ins(%100, %102 : tensor<4096x3072xf32>, tensor<3072x768xf32>) outs(%7 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %104 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%103, %99 : tensor<4096x768xf32>, tensor<768xf32>) outs(%3 : tensor<4096x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.addf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<4096x768xf32>
    %105 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%104 : tensor<4096x768xf32>) outs(%10 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<4096x768xf16>
    %expanded_32 = tensor.expand_shape %105 [[0, 1], [2]] output_shape [8, 512, 768] : tensor<4096x768xf16> into tensor<8x512x768xf16>
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %expanded_32 : tensor<8x512x768xf16>, tensor<8x512x768xf16>) outs(%58 : tensor<8x512x768xf16>) {
    ^bb0(%in: f16, %in_33: f16, %out: f16):
      %125 = arith.addf %in, %in_33 : f16
      linalg.yield %125 : f16
    } -> tensor<8x512x768xf16>
    %107 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<8x512x768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %125 = arith.extf %in : f16 to f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %108 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<8x512x768xf32>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f32, %out: f64):
      %125 = arith.extf %in : f32 to f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %109 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%108 : tensor<8x512x768xf64>) outs(%65 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.addf %in, %out : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %110 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<8x512x1xf64>) outs(%64 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.divf %in, %cst_7 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %111 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %110 : tensor<8x512x768xf64>, tensor<8x512x1xf64>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %125 = arith.subf %in, %in_33 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %112 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %111 : tensor<8x512x768xf64>, tensor<8x512x768xf64>) outs(%62 : tensor<8x512x768xf64>) {
    ^bb0(%in: f64, %in_33: f64, %out: f64):
      %125 = arith.mulf %in, %in_33 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x768xf64>
    %113 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%112 : tensor<8x512x768xf64>) outs(%65 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.addf %in, %out : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %114 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113 : tensor<8x512x1xf64>) outs(%64 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %125 = arith.divf %in, %cst_7 : f64
      linalg.yield %125 : f64
    } -> tensor<8x512x1xf64>
    %115 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114 : tensor<8x512x1xf64>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %125 = arith.truncf %in : f64 to f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %116 = linalg.generic {indexing_maps = [#map3, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%107 : tensor<8x512x768xf32>) outs(%74 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.addf %in, %out : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %117 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.divf %in, %cst_8 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %118 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = arith.truncf %cst_5 : f64 to f32
      %126 = arith.addf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x1xf32>
    %119 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x512x1xf32>) outs(%72 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %125 = math.rsqrt %in : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x1xf32>
    %120 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %117 : tensor<8x512x768xf32>, tensor<8x512x1xf32>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.subf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %121 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %119 : tensor<8x512x768xf32>, tensor<8x512x1xf32>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %125 = arith.mulf %in, %in_33 : f32
      linalg.yield %125 : f32
    } -> tensor<8x512x768xf32>
    %122 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %arg16 : tensor<8x512x768xf32>, tensor<768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f16, %out: f32):
      %125 = arith.extf %in_33 : f16 to f32
      %126 = arith.mulf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x768xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %arg17 : tensor<8x512x768xf32>, tensor<768xf16>) outs(%60 : tensor<8x512x768xf32>) {
    ^bb0(%in: f32, %in_33: f16, %out: f32):
      %125 = arith.extf %in_33 : f16 to f32
      %126 = arith.addf %in, %125 : f32
      linalg.yield %126 : f32
    } -> tensor<8x512x768xf32>
    %124 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123 : tensor<8x512x768xf32>) outs(%58 : tensor<8x512x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %125 = arith.truncf %in : f32 to f16
      linalg.yield %125 : f16
    } -> tensor<8x512x768xf16>
    return %124 : tensor<8x512x768xf16>
  }
}
