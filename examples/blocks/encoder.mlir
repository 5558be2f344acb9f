#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<8x512x1024xf16>, %arg1: tensor<3072x1024xf16>, %arg2: tensor<3072xf16>, %arg3: tensor<1024x1024xf16>, %arg4: tensor<1024xf16>, %arg5: tensor<4096x1024xf16>, %arg6: tensor<4096xf16>, %arg7: tensor<1024x4096xf16>, %arg8: tensor<1024xf16>, %arg9: tensor<1024xf16>, %arg10: tensor<1024xf16>, %arg11: tensor<1024xf16>, %arg12: tensor<1024xf16>) -> tensor<8x512x1024xf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f16
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0.000000e+00 : f64
    %cst_3 = arith.constant 1.000000e-05 : f64
    %cst_4 = arith.constant 1.250000e-01 : f16
    %cst_5 = arith.constant 1.024000e+03 : f64
    %cst_6 = arith.constant 1.024000e+03 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<8x512x1024xf16> into tensor<4096x1024xf16>
    %0 = tensor.empty() : tensor<1024x3072xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<3072x1024xf16>) outs(%0 : tensor<1024x3072xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<3072xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<3072xf16>) outs(%1 : tensor<3072xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<3072xf32>
    %3 = tensor.empty() : tensor<4096x1024xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<4096x1024xf16>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %5 = tensor.empty() : tensor<1024x3072xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<1024x3072xf16>) outs(%5 : tensor<1024x3072xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<1024x3072xf32>
    %7 = tensor.empty() : tensor<4096x3072xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<4096x1024xf32>, tensor<1024x3072xf32>) outs(%8 : tensor<4096x3072xf32>) -> tensor<4096x3072xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<4096x3072xf32>, tensor<3072xf32>) outs(%7 : tensor<4096x3072xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.addf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<4096x3072xf32>
    %11 = tensor.empty() : tensor<4096x3072xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<4096x3072xf32>) outs(%11 : tensor<4096x3072xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<4096x3072xf16>
    %expanded = tensor.expand_shape %12 [[0, 1], [2]] output_shape [8, 512, 3072] : tensor<4096x3072xf16> into tensor<8x512x3072xf16>
    %extracted_slice = tensor.extract_slice %expanded[0, 0, 0] [8, 512, 1024] [1, 1, 1] : tensor<8x512x3072xf16> to tensor<8x512x1024xf16>
    %extracted_slice_7 = tensor.extract_slice %expanded[0, 0, 1024] [8, 512, 1024] [1, 1, 1] : tensor<8x512x3072xf16> to tensor<8x512x1024xf16>
    %extracted_slice_8 = tensor.extract_slice %expanded[0, 0, 2048] [8, 512, 1024] [1, 1, 1] : tensor<8x512x3072xf16> to tensor<8x512x1024xf16>
    %expanded_9 = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [8, 512, 16, 64] : tensor<8x512x1024xf16> into tensor<8x512x16x64xf16>
    %13 = tensor.empty() : tensor<8x16x512x64xf16>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<8x512x16x64xf16>) outs(%13 : tensor<8x16x512x64xf16>) permutation = [0, 2, 1, 3] 
    %expanded_11 = tensor.expand_shape %extracted_slice_7 [[0], [1], [2, 3]] output_shape [8, 512, 16, 64] : tensor<8x512x1024xf16> into tensor<8x512x16x64xf16>
    %expanded_12 = tensor.expand_shape %extracted_slice_8 [[0], [1], [2, 3]] output_shape [8, 512, 16, 64] : tensor<8x512x1024xf16> into tensor<8x512x16x64xf16>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<8x512x16x64xf16>) outs(%13 : tensor<8x16x512x64xf16>) permutation = [0, 2, 1, 3] 
    %14 = tensor.empty() : tensor<8x16x64x512xf16>
    %transposed_14 = linalg.transpose ins(%expanded_11 : tensor<8x512x16x64xf16>) outs(%14 : tensor<8x16x64x512xf16>) permutation = [0, 2, 3, 1] 
    %collapsed_15 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<8x16x512x64xf16> into tensor<128x512x64xf16>
    %collapsed_16 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<8x16x64x512xf16> into tensor<128x64x512xf16>
    %15 = tensor.empty() : tensor<128x512x512xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<128x512x512xf32>) -> tensor<128x512x512xf32>
    %17 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<128x512x64xf16>, tensor<128x64x512xf16>) outs(%16 : tensor<128x512x512xf32>) -> tensor<128x512x512xf32>
    %18 = tensor.empty() : tensor<128x512x512xf16>
    %19 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<128x512x512xf32>) outs(%18 : tensor<128x512x512xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<128x512x512xf16>
    %expanded_17 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [8, 16, 512, 512] : tensor<128x512x512xf16> into tensor<8x16x512x512xf16>
    %20 = tensor.empty() : tensor<8x16x512x512xf16>
    %21 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<8x16x512x512xf16>) outs(%20 : tensor<8x16x512x512xf16>) {
    ^bb0(%in: f16, %out: f16):
      %118 = arith.mulf %in, %cst_4 : f16
      linalg.yield %118 : f16
    } -> tensor<8x16x512x512xf16>
    %22 = tensor.empty() : tensor<8x16x512x512xf32>
    %23 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<8x16x512x512xf16>) outs(%22 : tensor<8x16x512x512xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<8x16x512x512xf32>
    %24 = tensor.empty() : tensor<8x16x512xi64>
    %25 = linalg.fill ins(%c0_i64 : i64) outs(%24 : tensor<8x16x512xi64>) -> tensor<8x16x512xi64>
    %26 = tensor.empty() : tensor<8x16x512xf32>
    %27 = linalg.fill ins(%cst_1 : f32) outs(%26 : tensor<8x16x512xf32>) -> tensor<8x16x512xf32>
    %28:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<8x16x512x512xf32>) outs(%27, %25 : tensor<8x16x512xf32>, tensor<8x16x512xi64>) {
    ^bb0(%in: f32, %out: f32, %out_32: i64):
      %118 = linalg.index 3 : index
      %119 = arith.index_cast %118 : index to i64
      %120 = arith.maximumf %in, %out : f32
      %121 = arith.cmpf ogt, %in, %out : f32
      %122 = arith.select %121, %119, %out_32 : i64
      linalg.yield %120, %122 : f32, i64
    } -> (tensor<8x16x512xf32>, tensor<8x16x512xi64>)
    %expanded_18 = tensor.expand_shape %28#0 [[0], [1], [2, 3]] output_shape [8, 16, 512, 1] : tensor<8x16x512xf32> into tensor<8x16x512x1xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %expanded_18 : tensor<8x16x512x512xf32>, tensor<8x16x512x1xf32>) outs(%22 : tensor<8x16x512x512xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.subf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x16x512x512xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<8x16x512x512xf32>) outs(%22 : tensor<8x16x512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = math.exp %in : f32
      linalg.yield %118 : f32
    } -> tensor<8x16x512x512xf32>
    %31 = tensor.empty() : tensor<8x16x512x1xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<8x16x512x1xf32>) -> tensor<8x16x512x1xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<8x16x512x512xf32>) outs(%32 : tensor<8x16x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.addf %in, %out : f32
      linalg.yield %118 : f32
    } -> tensor<8x16x512x1xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %33 : tensor<8x16x512x512xf32>, tensor<8x16x512x1xf32>) outs(%22 : tensor<8x16x512x512xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.divf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x16x512x512xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<8x16x512x512xf32>) outs(%20 : tensor<8x16x512x512xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<8x16x512x512xf16>
    %collapsed_19 = tensor.collapse_shape %35 [[0, 1], [2], [3]] : tensor<8x16x512x512xf16> into tensor<128x512x512xf16>
    %collapsed_20 = tensor.collapse_shape %transposed_13 [[0, 1], [2], [3]] : tensor<8x16x512x64xf16> into tensor<128x512x64xf16>
    %36 = tensor.empty() : tensor<128x512x64xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<128x512x64xf32>) -> tensor<128x512x64xf32>
    %38 = linalg.batch_matmul ins(%collapsed_19, %collapsed_20 : tensor<128x512x512xf16>, tensor<128x512x64xf16>) outs(%37 : tensor<128x512x64xf32>) -> tensor<128x512x64xf32>
    %39 = tensor.empty() : tensor<128x512x64xf16>
    %40 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<128x512x64xf32>) outs(%39 : tensor<128x512x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<128x512x64xf16>
    %expanded_21 = tensor.expand_shape %40 [[0, 1], [2], [3]] output_shape [8, 16, 512, 64] : tensor<128x512x64xf16> into tensor<8x16x512x64xf16>
    %41 = tensor.empty() : tensor<8x512x16x64xf16>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<8x16x512x64xf16>) outs(%41 : tensor<8x512x16x64xf16>) permutation = [0, 2, 1, 3] 
    %collapsed_23 = tensor.collapse_shape %transposed_22 [[0, 1], [2, 3]] : tensor<8x512x16x64xf16> into tensor<4096x1024xf16>
    %42 = tensor.empty() : tensor<1024x1024xf16>
    %transposed_24 = linalg.transpose ins(%arg3 : tensor<1024x1024xf16>) outs(%42 : tensor<1024x1024xf16>) permutation = [1, 0] 
    %43 = tensor.empty() : tensor<1024xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg4 : tensor<1024xf16>) outs(%43 : tensor<1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<1024xf32>
    %45 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_23 : tensor<4096x1024xf16>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %46 = tensor.empty() : tensor<1024x1024xf32>
    %47 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_24 : tensor<1024x1024xf16>) outs(%46 : tensor<1024x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<1024x1024xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%3 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %49 = linalg.matmul ins(%45, %47 : tensor<4096x1024xf32>, tensor<1024x1024xf32>) outs(%48 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %50 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%49, %44 : tensor<4096x1024xf32>, tensor<1024xf32>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.addf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %51 = tensor.empty() : tensor<4096x1024xf16>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%50 : tensor<4096x1024xf32>) outs(%51 : tensor<4096x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<4096x1024xf16>
    %expanded_25 = tensor.expand_shape %52 [[0, 1], [2]] output_shape [8, 512, 1024] : tensor<4096x1024xf16> into tensor<8x512x1024xf16>
    %53 = tensor.empty() : tensor<8x512x1024xf16>
    %54 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_25 : tensor<8x512x1024xf16>, tensor<8x512x1024xf16>) outs(%53 : tensor<8x512x1024xf16>) {
    ^bb0(%in: f16, %in_32: f16, %out: f16):
      %118 = arith.addf %in, %in_32 : f16
      linalg.yield %118 : f16
    } -> tensor<8x512x1024xf16>
    %55 = tensor.empty() : tensor<8x512x1024xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54 : tensor<8x512x1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %57 = tensor.empty() : tensor<8x512x1024xf64>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<8x512x1024xf32>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f32, %out: f64):
      %118 = arith.extf %in : f32 to f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %59 = tensor.empty() : tensor<8x512x1xf64>
    %60 = linalg.fill ins(%cst_2 : f64) outs(%59 : tensor<8x512x1xf64>) -> tensor<8x512x1xf64>
    %61 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%58 : tensor<8x512x1024xf64>) outs(%60 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.addf %in, %out : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %62 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<8x512x1xf64>) outs(%59 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.divf %in, %cst_5 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %63 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %62 : tensor<8x512x1024xf64>, tensor<8x512x1xf64>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %118 = arith.subf %in, %in_32 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %64 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %63 : tensor<8x512x1024xf64>, tensor<8x512x1024xf64>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %118 = arith.mulf %in, %in_32 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %65 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%64 : tensor<8x512x1024xf64>) outs(%60 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.addf %in, %out : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %66 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<8x512x1xf64>) outs(%59 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.divf %in, %cst_5 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %67 = tensor.empty() : tensor<8x512x1xf32>
    %68 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<8x512x1xf64>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %118 = arith.truncf %in : f64 to f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %69 = linalg.fill ins(%cst : f32) outs(%67 : tensor<8x512x1xf32>) -> tensor<8x512x1xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%56 : tensor<8x512x1024xf32>) outs(%69 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.addf %in, %out : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %71 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.divf %in, %cst_6 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %72 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.truncf %cst_3 : f64 to f32
      %119 = arith.addf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = math.rsqrt %in : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %74 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %71 : tensor<8x512x1024xf32>, tensor<8x512x1xf32>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.subf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %75 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %73 : tensor<8x512x1024xf32>, tensor<8x512x1xf32>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.mulf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %76 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %arg9 : tensor<8x512x1024xf32>, tensor<1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f16, %out: f32):
      %118 = arith.extf %in_32 : f16 to f32
      %119 = arith.mulf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1024xf32>
    %77 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %arg10 : tensor<8x512x1024xf32>, tensor<1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f16, %out: f32):
      %118 = arith.extf %in_32 : f16 to f32
      %119 = arith.addf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1024xf32>
    %78 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<8x512x1024xf32>) outs(%53 : tensor<8x512x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<8x512x1024xf16>
    %collapsed_26 = tensor.collapse_shape %78 [[0, 1], [2]] : tensor<8x512x1024xf16> into tensor<4096x1024xf16>
    %79 = tensor.empty() : tensor<1024x4096xf16>
    %transposed_27 = linalg.transpose ins(%arg5 : tensor<4096x1024xf16>) outs(%79 : tensor<1024x4096xf16>) permutation = [1, 0] 
    %80 = tensor.empty() : tensor<4096xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg6 : tensor<4096xf16>) outs(%80 : tensor<4096xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_26 : tensor<4096x1024xf16>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %83 = tensor.empty() : tensor<1024x4096xf32>
    %84 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_27 : tensor<1024x4096xf16>) outs(%83 : tensor<1024x4096xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<1024x4096xf32>
    %85 = tensor.empty() : tensor<4096x4096xf32>
    %86 = linalg.fill ins(%cst : f32) outs(%85 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %87 = linalg.matmul ins(%82, %84 : tensor<4096x1024xf32>, tensor<1024x4096xf32>) outs(%86 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%87, %81 : tensor<4096x4096xf32>, tensor<4096xf32>) outs(%85 : tensor<4096x4096xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.addf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<4096x4096xf32>
    %89 = tensor.empty() : tensor<4096x4096xf16>
    %90 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%88 : tensor<4096x4096xf32>) outs(%89 : tensor<4096x4096xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<4096x4096xf16>
    %expanded_28 = tensor.expand_shape %90 [[0, 1], [2]] output_shape [8, 512, 4096] : tensor<4096x4096xf16> into tensor<8x512x4096xf16>
    %91 = tensor.empty() : tensor<8x512x4096xf16>
    %92 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<8x512x4096xf16>) outs(%91 : tensor<8x512x4096xf16>) {
    ^bb0(%in: f16, %out: f16):
      %118 = arith.cmpf ugt, %in, %cst_0 : f16
      %119 = arith.select %118, %in, %cst_0 : f16
      linalg.yield %119 : f16
    } -> tensor<8x512x4096xf16>
    %collapsed_29 = tensor.collapse_shape %92 [[0, 1], [2]] : tensor<8x512x4096xf16> into tensor<4096x4096xf16>
    %transposed_30 = linalg.transpose ins(%arg7 : tensor<1024x4096xf16>) outs(%51 : tensor<4096x1024xf16>) permutation = [1, 0] 
    %93 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg8 : tensor<1024xf16>) outs(%43 : tensor<1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<1024xf32>
    %94 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_29 : tensor<4096x4096xf16>) outs(%85 : tensor<4096x4096xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096x4096xf32>
    %95 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_30 : tensor<4096x1024xf16>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %96 = linalg.matmul ins(%94, %95 : tensor<4096x4096xf32>, tensor<4096x1024xf32>) outs(%48 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %97 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%96, %93 : tensor<4096x1024xf32>, tensor<1024xf32>) outs(%3 : tensor<4096x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.addf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<4096x1024xf32>
    %98 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%97 : tensor<4096x1024xf32>) outs(%51 : tensor<4096x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<4096x1024xf16>
    %expanded_31 = tensor.expand_shape %98 [[0, 1], [2]] output_shape [8, 512, 1024] : tensor<4096x1024xf16> into tensor<8x512x1024xf16>
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %expanded_31 : tensor<8x512x1024xf16>, tensor<8x512x1024xf16>) outs(%53 : tensor<8x512x1024xf16>) {
    ^bb0(%in: f16, %in_32: f16, %out: f16):
      %118 = arith.addf %in, %in_32 : f16
      linalg.yield %118 : f16
    } -> tensor<8x512x1024xf16>
    %100 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<8x512x1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %118 = arith.extf %in : f16 to f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %101 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<8x512x1024xf32>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f32, %out: f64):
      %118 = arith.extf %in : f32 to f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %102 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%101 : tensor<8x512x1024xf64>) outs(%60 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.addf %in, %out : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %103 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<8x512x1xf64>) outs(%59 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.divf %in, %cst_5 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %104 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %103 : tensor<8x512x1024xf64>, tensor<8x512x1xf64>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %118 = arith.subf %in, %in_32 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %104 : tensor<8x512x1024xf64>, tensor<8x512x1024xf64>) outs(%57 : tensor<8x512x1024xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %118 = arith.mulf %in, %in_32 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1024xf64>
    %106 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%105 : tensor<8x512x1024xf64>) outs(%60 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.addf %in, %out : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %107 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<8x512x1xf64>) outs(%59 : tensor<8x512x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %118 = arith.divf %in, %cst_5 : f64
      linalg.yield %118 : f64
    } -> tensor<8x512x1xf64>
    %108 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<8x512x1xf64>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %118 = arith.truncf %in : f64 to f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %109 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%100 : tensor<8x512x1024xf32>) outs(%69 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.addf %in, %out : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %110 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.divf %in, %cst_6 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %111 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = arith.truncf %cst_3 : f64 to f32
      %119 = arith.addf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1xf32>
    %112 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111 : tensor<8x512x1xf32>) outs(%67 : tensor<8x512x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %118 = math.rsqrt %in : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1xf32>
    %113 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %110 : tensor<8x512x1024xf32>, tensor<8x512x1xf32>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.subf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %114 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %112 : tensor<8x512x1024xf32>, tensor<8x512x1xf32>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %118 = arith.mulf %in, %in_32 : f32
      linalg.yield %118 : f32
    } -> tensor<8x512x1024xf32>
    %115 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114, %arg11 : tensor<8x512x1024xf32>, tensor<1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f16, %out: f32):
      %118 = arith.extf %in_32 : f16 to f32
      %119 = arith.mulf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1024xf32>
    %116 = linalg.generic {indexing_maps = [#map3, #map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %arg12 : tensor<8x512x1024xf32>, tensor<1024xf16>) outs(%55 : tensor<8x512x1024xf32>) {
    ^bb0(%in: f32, %in_32: f16, %out: f32):
      %118 = arith.extf %in_32 : f16 to f32
      %119 = arith.addf %in, %118 : f32
      linalg.yield %119 : f32
    } -> tensor<8x512x1024xf32>
    %117 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<8x512x1024xf32>) outs(%53 : tensor<8x512x1024xf16>) {
    ^bb0(%in: f32, %out: f16):
      %118 = arith.truncf %in : f32 to f16
      linalg.yield %118 : f16
    } -> tensor<8x512x1024xf16>
    return %117 : tensor<8x512x1024xf16>
  }
}
