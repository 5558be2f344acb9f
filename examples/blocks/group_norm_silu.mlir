#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
module {
  func.func @main(%arg0: tensor<8x512x64x64xf16>, %arg1: tensor<512xf16>, %arg2: tensor<512xf16>) -> tensor<8x512x64x64xf16> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 6.553600e+04 : f32
    %0 = tensor.empty() : tensor<8x512x64x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8x512x64x64xf16>) outs(%0 : tensor<8x512x64x64xf32>) {
    ^bb0(%in: f16, %out: f32):
      %20 = arith.extf %in : f16 to f32
      linalg.yield %20 : f32
    } -> tensor<8x512x64x64xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1, 2, 3]] : tensor<8x512x64x64xf32> into tensor<8x2097152xf32>
    %expanded = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [8, 32, 65536] : tensor<8x2097152xf32> into tensor<8x32x65536xf32>
    %2 = tensor.empty() : tensor<8x32x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8x32x1xf32>) -> tensor<8x32x1xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded : tensor<8x32x65536xf32>) outs(%3 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %out : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x1xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<8x32x1xf32>) outs(%2 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %in, %cst_2 : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x1xf32>
    %6 = tensor.empty() : tensor<8x32x65536xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %5 : tensor<8x32x65536xf32>, tensor<8x32x1xf32>) outs(%6 : tensor<8x32x65536xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.subf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x65536xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<8x32x65536xf32>) outs(%6 : tensor<8x32x65536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %20 : f32
    } -> tensor<8x32x65536xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<8x32x65536xf32>) outs(%3 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %out : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x1xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<8x32x1xf32>) outs(%2 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %in, %cst_2 : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x1xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<8x32x1xf32>) outs(%2 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.truncf %cst_1 : f64 to f32
      %21 = arith.addf %in, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<8x32x1xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<8x32x1xf32>) outs(%2 : tensor<8x32x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.rsqrt %in : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x1xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %12 : tensor<8x32x65536xf32>, tensor<8x32x1xf32>) outs(%6 : tensor<8x32x65536xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.mulf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<8x32x65536xf32>
    %collapsed_3 = tensor.collapse_shape %13 [[0], [1, 2]] : tensor<8x32x65536xf32> into tensor<8x2097152xf32>
    %expanded_4 = tensor.expand_shape %collapsed_3 [[0], [1, 2, 3]] output_shape [8, 512, 64, 64] : tensor<8x2097152xf32> into tensor<8x512x64x64xf32>
    %expanded_5 = tensor.expand_shape %arg1 [[0, 1, 2]] output_shape [512, 1, 1] : tensor<512xf16> into tensor<512x1x1xf16>
    %14 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded_5 : tensor<8x512x64x64xf32>, tensor<512x1x1xf16>) outs(%0 : tensor<8x512x64x64xf32>) {
    ^bb0(%in: f32, %in_7: f16, %out: f32):
      %20 = arith.extf %in_7 : f16 to f32
      %21 = arith.mulf %in, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<8x512x64x64xf32>
    %expanded_6 = tensor.expand_shape %arg2 [[0, 1, 2]] output_shape [512, 1, 1] : tensor<512xf16> into tensor<512x1x1xf16>
    %15 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %expanded_6 : tensor<8x512x64x64xf32>, tensor<512x1x1xf16>) outs(%0 : tensor<8x512x64x64xf32>) {
    ^bb0(%in: f32, %in_7: f16, %out: f32):
      %20 = arith.extf %in_7 : f16 to f32
      %21 = arith.addf %in, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<8x512x64x64xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<8x512x64x64xf32>) outs(%0 : tensor<8x512x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<8x512x64x64xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %16 : tensor<8x512x64x64xf32>, tensor<8x512x64x64xf32>) outs(%0 : tensor<8x512x64x64xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %20 = arith.mulf %in, %in_7 : f32
      linalg.yield %20 : f32
    } -> tensor<8x512x64x64xf32>
    %18 = tensor.empty() : tensor<8x512x64x64xf16>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<8x512x64x64xf32>) outs(%18 : tensor<8x512x64x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %20 = arith.truncf %in : f32 to f16
      linalg.yield %20 : f16
    } -> tensor<8x512x64x64xf16>
    return %19 : tensor<8x512x64x64xf16>
  }
}
