#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<4x1024x768xf16>, %arg1: tensor<1x1x1024x1024xf16>, %arg2: tensor<768xf16>, %arg3: tensor<768xf16>, %arg4: tensor<768x2304xf16>, %arg5: tensor<2304xf16>, %arg6: tensor<768x768xf16>, %arg7: tensor<768xf16>, %arg8: tensor<768xf16>, %arg9: tensor<768xf16>, %arg10: tensor<768x3072xf16>, %arg11: tensor<3072xf16>, %arg12: tensor<3072x768xf16>, %arg13: tensor<768xf16>) -> tensor<4x1024x768xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_2 = arith.constant 4.470830e-02 : f16
    %cst_3 = arith.constant 7.978520e-01 : f16
    %cst_4 = arith.constant 1.000000e+00 : f16
    %cst_5 = arith.constant 5.000000e-01 : f16
    %cst_6 = arith.constant 1.000000e-05 : f64
    %cst_7 = arith.constant 7.680000e+02 : f64
    %cst_8 = arith.constant 7.680000e+02 : f32
    %cst_9 = arith.constant 1.250000e-01 : f16
    %0 = tensor.empty() : tensor<4x1024x768xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<4x1024x768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %99 = arith.extf %in : f16 to f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %2 = tensor.empty() : tensor<4x1024x768xf64>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<4x1024x768xf32>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f32, %out: f64):
      %99 = arith.extf %in : f32 to f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %4 = tensor.empty() : tensor<4x1024x1xf64>
    %5 = linalg.fill ins(%cst : f64) outs(%4 : tensor<4x1024x1xf64>) -> tensor<4x1024x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3 : tensor<4x1024x768xf64>) outs(%5 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.addf %in, %out : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<4x1024x1xf64>) outs(%4 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.divf %in, %cst_7 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %7 : tensor<4x1024x768xf64>, tensor<4x1024x1xf64>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %99 = arith.subf %in, %in_31 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %8 : tensor<4x1024x768xf64>, tensor<4x1024x768xf64>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %99 = arith.mulf %in, %in_31 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<4x1024x768xf64>) outs(%5 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.addf %in, %out : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<4x1024x1xf64>) outs(%4 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.divf %in, %cst_7 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %12 = tensor.empty() : tensor<4x1024x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<4x1024x1xf64>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %99 = arith.truncf %in : f64 to f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<4x1024x1xf32>) -> tensor<4x1024x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<4x1024x768xf32>) outs(%14 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.truncf %cst_6 : f64 to f32
      %100 = arith.addf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.rsqrt %in : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %16 : tensor<4x1024x768xf32>, tensor<4x1024x1xf32>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.subf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %18 : tensor<4x1024x768xf32>, tensor<4x1024x1xf32>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.mulf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %arg2 : tensor<4x1024x768xf32>, tensor<768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f16, %out: f32):
      %99 = arith.extf %in_31 : f16 to f32
      %100 = arith.mulf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x768xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg3 : tensor<4x1024x768xf32>, tensor<768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f16, %out: f32):
      %99 = arith.extf %in_31 : f16 to f32
      %100 = arith.addf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x768xf32>
    %23 = tensor.empty() : tensor<4x1024x768xf16>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<4x1024x768xf32>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    %collapsed = tensor.collapse_shape %24 [[0, 1], [2]] : tensor<4x1024x768xf16> into tensor<4096x768xf16>
    %25 = tensor.empty() : tensor<4096x2304xf32>
    %26 = linalg.fill ins(%cst_0 : f32) outs(%25 : tensor<4096x2304xf32>) -> tensor<4096x2304xf32>
    %27 = linalg.matmul ins(%collapsed, %arg4 : tensor<4096x768xf16>, tensor<768x2304xf16>) outs(%26 : tensor<4096x2304xf32>) -> tensor<4096x2304xf32>
    %28 = tensor.empty() : tensor<4096x2304xf16>
    %29 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<4096x2304xf32>) outs(%28 : tensor<4096x2304xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4096x2304xf16>
    %expanded = tensor.expand_shape %29 [[0, 1], [2]] output_shape [4, 1024, 2304] : tensor<4096x2304xf16> into tensor<4x1024x2304xf16>
    %30 = tensor.empty() : tensor<4x1024x2304xf16>
    %31 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %arg5 : tensor<4x1024x2304xf16>, tensor<2304xf16>) outs(%30 : tensor<4x1024x2304xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x2304xf16>
    %extracted_slice = tensor.extract_slice %31[0, 0, 0] [4, 1024, 768] [1, 1, 1] : tensor<4x1024x2304xf16> to tensor<4x1024x768xf16>
    %extracted_slice_10 = tensor.extract_slice %31[0, 0, 768] [4, 1024, 768] [1, 1, 1] : tensor<4x1024x2304xf16> to tensor<4x1024x768xf16>
    %extracted_slice_11 = tensor.extract_slice %31[0, 0, 1536] [4, 1024, 768] [1, 1, 1] : tensor<4x1024x2304xf16> to tensor<4x1024x768xf16>
    %expanded_12 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [4, 1024, 12, 64] : tensor<4x1024x768xf16> into tensor<4x1024x12x64xf16>
    %32 = tensor.empty() : tensor<4x12x1024x64xf16>
    %transposed = linalg.transpose ins(%expanded_12 : tensor<4x1024x12x64xf16>) outs(%32 : tensor<4x12x1024x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_13 = tensor.expand_shape %extracted_slice_10 [[0], [1], [2, 3]] output_shape [4, 1024, 12, 64] : tensor<4x1024x768xf16> into tensor<4x1024x12x64xf16>
    %expanded_14 = tensor.expand_shape %extracted_slice_11 [[0], [1], [2, 3]] output_shape [4, 1024, 12, 64] : tensor<4x1024x768xf16> into tensor<4x1024x12x64xf16>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<4x1024x12x64xf16>) outs(%32 : tensor<4x12x1024x64xf16>) permutation = [0, 2, 1, 3] 
    %33 = tensor.empty() : tensor<4x12x64x1024xf16>
    %transposed_16 = linalg.transpose ins(%expanded_13 : tensor<4x1024x12x64xf16>) outs(%33 : tensor<4x12x64x1024xf16>) permutation = [0, 2, 3, 1] 
    %collapsed_17 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<4x12x1024x64xf16> into tensor<48x1024x64xf16>
    %collapsed_18 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3]] : tensor<4x12x64x1024xf16> into tensor<48x64x1024xf16>
    %34 = tensor.empty() : tensor<48x1024x1024xf32>
    %35 = linalg.fill ins(%cst_0 : f32) outs(%34 : tensor<48x1024x1024xf32>) -> tensor<48x1024x1024xf32>
    %36 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<48x1024x64xf16>, tensor<48x64x1024xf16>) outs(%35 : tensor<48x1024x1024xf32>) -> tensor<48x1024x1024xf32>
    %37 = tensor.empty() : tensor<48x1024x1024xf16>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36 : tensor<48x1024x1024xf32>) outs(%37 : tensor<48x1024x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<48x1024x1024xf16>
    %expanded_19 = tensor.expand_shape %38 [[0, 1], [2], [3]] output_shape [4, 12, 1024, 1024] : tensor<48x1024x1024xf16> into tensor<4x12x1024x1024xf16>
    %39 = tensor.empty() : tensor<4x12x1024x1024xf16>
    %40 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19 : tensor<4x12x1024x1024xf16>) outs(%39 : tensor<4x12x1024x1024xf16>) {
    ^bb0(%in: f16, %out: f16):
      %99 = arith.mulf %in, %cst_9 : f16
      linalg.yield %99 : f16
    } -> tensor<4x12x1024x1024xf16>
    %41 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40, %arg1 : tensor<4x12x1024x1024xf16>, tensor<1x1x1024x1024xf16>) outs(%39 : tensor<4x12x1024x1024xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x12x1024x1024xf16>
    %42 = tensor.empty() : tensor<4x12x1024x1024xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<4x12x1024x1024xf16>) outs(%42 : tensor<4x12x1024x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %99 = arith.extf %in : f16 to f32
      linalg.yield %99 : f32
    } -> tensor<4x12x1024x1024xf32>
    %44 = tensor.empty() : tensor<4x12x1024xi64>
    %45 = linalg.fill ins(%c0_i64 : i64) outs(%44 : tensor<4x12x1024xi64>) -> tensor<4x12x1024xi64>
    %46 = tensor.empty() : tensor<4x12x1024xf32>
    %47 = linalg.fill ins(%cst_1 : f32) outs(%46 : tensor<4x12x1024xf32>) -> tensor<4x12x1024xf32>
    %48:2 = linalg.generic {indexing_maps = [#map4, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<4x12x1024x1024xf32>) outs(%47, %45 : tensor<4x12x1024xf32>, tensor<4x12x1024xi64>) {
    ^bb0(%in: f32, %out: f32, %out_31: i64):
      %99 = linalg.index 3 : index
      %100 = arith.index_cast %99 : index to i64
      %101 = arith.maximumf %in, %out : f32
      %102 = arith.cmpf ogt, %in, %out : f32
      %103 = arith.select %102, %100, %out_31 : i64
      linalg.yield %101, %103 : f32, i64
    } -> (tensor<4x12x1024xf32>, tensor<4x12x1024xi64>)
    %expanded_20 = tensor.expand_shape %48#0 [[0], [1], [2, 3]] output_shape [4, 12, 1024, 1] : tensor<4x12x1024xf32> into tensor<4x12x1024x1xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %expanded_20 : tensor<4x12x1024x1024xf32>, tensor<4x12x1024x1xf32>) outs(%42 : tensor<4x12x1024x1024xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.subf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x12x1024x1024xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<4x12x1024x1024xf32>) outs(%42 : tensor<4x12x1024x1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.exp %in : f32
      linalg.yield %99 : f32
    } -> tensor<4x12x1024x1024xf32>
    %51 = tensor.empty() : tensor<4x12x1024x1xf32>
    %52 = linalg.fill ins(%cst_0 : f32) outs(%51 : tensor<4x12x1024x1xf32>) -> tensor<4x12x1024x1xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%50 : tensor<4x12x1024x1024xf32>) outs(%52 : tensor<4x12x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<4x12x1024x1xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50, %53 : tensor<4x12x1024x1024xf32>, tensor<4x12x1024x1xf32>) outs(%42 : tensor<4x12x1024x1024xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.divf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x12x1024x1024xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<4x12x1024x1024xf32>) outs(%39 : tensor<4x12x1024x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4x12x1024x1024xf16>
    %collapsed_21 = tensor.collapse_shape %55 [[0, 1], [2], [3]] : tensor<4x12x1024x1024xf16> into tensor<48x1024x1024xf16>
    %collapsed_22 = tensor.collapse_shape %transposed_15 [[0, 1], [2], [3]] : tensor<4x12x1024x64xf16> into tensor<48x1024x64xf16>
    %56 = tensor.empty() : tensor<48x1024x64xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<48x1024x64xf32>) -> tensor<48x1024x64xf32>
    %58 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<48x1024x1024xf16>, tensor<48x1024x64xf16>) outs(%57 : tensor<48x1024x64xf32>) -> tensor<48x1024x64xf32>
    %59 = tensor.empty() : tensor<48x1024x64xf16>
    %60 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<48x1024x64xf32>) outs(%59 : tensor<48x1024x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<48x1024x64xf16>
    %expanded_23 = tensor.expand_shape %60 [[0, 1], [2], [3]] output_shape [4, 12, 1024, 64] : tensor<48x1024x64xf16> into tensor<4x12x1024x64xf16>
    %61 = tensor.empty() : tensor<4x1024x12x64xf16>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<4x12x1024x64xf16>) outs(%61 : tensor<4x1024x12x64xf16>) permutation = [0, 2, 1, 3] 
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0, 1], [2, 3]] : tensor<4x1024x12x64xf16> into tensor<4096x768xf16>
    %62 = tensor.empty() : tensor<4096x768xf32>
    %63 = linalg.fill ins(%cst_0 : f32) outs(%62 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %64 = linalg.matmul ins(%collapsed_25, %arg6 : tensor<4096x768xf16>, tensor<768x768xf16>) outs(%63 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %65 = tensor.empty() : tensor<4096x768xf16>
    %66 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%64 : tensor<4096x768xf32>) outs(%65 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4096x768xf16>
    %expanded_26 = tensor.expand_shape %66 [[0, 1], [2]] output_shape [4, 1024, 768] : tensor<4096x768xf16> into tensor<4x1024x768xf16>
    %67 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_26, %arg7 : tensor<4x1024x768xf16>, tensor<768xf16>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    %68 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %67 : tensor<4x1024x768xf16>, tensor<4x1024x768xf16>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    %69 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<4x1024x768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f16, %out: f32):
      %99 = arith.extf %in : f16 to f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<4x1024x768xf32>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f32, %out: f64):
      %99 = arith.extf %in : f32 to f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %71 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<4x1024x768xf64>) outs(%5 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.addf %in, %out : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %72 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<4x1024x1xf64>) outs(%4 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.divf %in, %cst_7 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %73 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %72 : tensor<4x1024x768xf64>, tensor<4x1024x1xf64>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %99 = arith.subf %in, %in_31 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %74 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73, %73 : tensor<4x1024x768xf64>, tensor<4x1024x768xf64>) outs(%2 : tensor<4x1024x768xf64>) {
    ^bb0(%in: f64, %in_31: f64, %out: f64):
      %99 = arith.mulf %in, %in_31 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x768xf64>
    %75 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%74 : tensor<4x1024x768xf64>) outs(%5 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.addf %in, %out : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %76 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75 : tensor<4x1024x1xf64>) outs(%4 : tensor<4x1024x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %99 = arith.divf %in, %cst_7 : f64
      linalg.yield %99 : f64
    } -> tensor<4x1024x1xf64>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<4x1024x1xf64>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %99 = arith.truncf %in : f64 to f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%69 : tensor<4x1024x768xf32>) outs(%14 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.addf %in, %out : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.divf %in, %cst_8 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = arith.truncf %cst_6 : f64 to f32
      %100 = arith.addf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x1xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<4x1024x1xf32>) outs(%12 : tensor<4x1024x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %99 = math.rsqrt %in : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x1xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %79 : tensor<4x1024x768xf32>, tensor<4x1024x1xf32>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.subf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %81 : tensor<4x1024x768xf32>, tensor<4x1024x1xf32>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f32, %out: f32):
      %99 = arith.mulf %in, %in_31 : f32
      linalg.yield %99 : f32
    } -> tensor<4x1024x768xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %arg8 : tensor<4x1024x768xf32>, tensor<768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f16, %out: f32):
      %99 = arith.extf %in_31 : f16 to f32
      %100 = arith.mulf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x768xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %arg9 : tensor<4x1024x768xf32>, tensor<768xf16>) outs(%0 : tensor<4x1024x768xf32>) {
    ^bb0(%in: f32, %in_31: f16, %out: f32):
      %99 = arith.extf %in_31 : f16 to f32
      %100 = arith.addf %in, %99 : f32
      linalg.yield %100 : f32
    } -> tensor<4x1024x768xf32>
    %86 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<4x1024x768xf32>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    %collapsed_27 = tensor.collapse_shape %86 [[0, 1], [2]] : tensor<4x1024x768xf16> into tensor<4096x768xf16>
    %87 = tensor.empty() : tensor<4096x3072xf32>
    %88 = linalg.fill ins(%cst_0 : f32) outs(%87 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %89 = linalg.matmul ins(%collapsed_27, %arg10 : tensor<4096x768xf16>, tensor<768x3072xf16>) outs(%88 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %90 = tensor.empty() : tensor<4096x3072xf16>
    %91 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%89 : tensor<4096x3072xf32>) outs(%90 : tensor<4096x3072xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4096x3072xf16>
    %expanded_28 = tensor.expand_shape %91 [[0, 1], [2]] output_shape [4, 1024, 3072] : tensor<4096x3072xf16> into tensor<4x1024x3072xf16>
    %92 = tensor.empty() : tensor<4x1024x3072xf16>
    %93 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_28, %arg11 : tensor<4x1024x3072xf16>, tensor<3072xf16>) outs(%92 : tensor<4x1024x3072xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x3072xf16>
    %94 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<4x1024x3072xf16>) outs(%92 : tensor<4x1024x3072xf16>) {
    ^bb0(%in: f16, %out: f16):
      %99 = math.fpowi %in, %c3_i64 : f16, i64
      %100 = arith.mulf %99, %cst_2 : f16
      %101 = arith.addf %in, %100 : f16
      %102 = arith.mulf %101, %cst_3 : f16
      %103 = math.tanh %102 : f16
      %104 = arith.addf %103, %cst_4 : f16
      %105 = arith.mulf %104, %cst_5 : f16
      %106 = arith.mulf %in, %105 : f16
      linalg.yield %106 : f16
    } -> tensor<4x1024x3072xf16>
    %collapsed_29 = tensor.collapse_shape %94 [[0, 1], [2]] : tensor<4x1024x3072xf16> into tensor<4096x3072xf16>
    %95 = linalg.matmul ins(%collapsed_29, %arg12 : tensor<4096x3072xf16>, tensor<3072x768xf16>) outs(%63 : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %96 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%95 : tensor<4096x768xf32>) outs(%65 : tensor<4096x768xf16>) {
    ^bb0(%in: f32, %out: f16):
      %99 = arith.truncf %in : f32 to f16
      linalg.yield %99 : f16
    } -> tensor<4096x768xf16>
    %expanded_30 = tensor.expand_shape %96 [[0, 1], [2]] output_shape [4, 1024, 768] : tensor<4096x768xf16> into tensor<4x1024x768xf16>
    %97 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_30, %arg13 : tensor<4x1024x768xf16>, tensor<768xf16>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    %98 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %97 : tensor<4x1024x768xf16>, tensor<4x1024x768xf16>) outs(%23 : tensor<4x1024x768xf16>) {
    ^bb0(%in: f16, %in_31: f16, %out: f16):
      %99 = arith.addf %in, %in_31 : f16
      linalg.yield %99 : f16
    } -> tensor<4x1024x768xf16>
    return %98 : tensor<4x1024x768xf16>
  }
}
