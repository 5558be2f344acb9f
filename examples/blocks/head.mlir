#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @main(%arg0: tensor<256x2048xf16>, %arg1: tensor<50257x2048xf16>) -> tensor<256x50257xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<2048x50257xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<50257x2048xf16>) outs(%0 : tensor<2048x50257xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<256x50257xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<256x50257xf32>) -> tensor<256x50257xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<256x2048xf16>, tensor<2048x50257xf16>) outs(%2 : tensor<256x50257xf32>) -> tensor<256x50257xf32>
    %4 = tensor.empty() : tensor<256x50257xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<256x50257xf32>) outs(%4 : tensor<256x50257xf16>) {
    ^bb0(%in: f32, %out: f16):
      %20 = arith.truncf %in : f32 to f16
      linalg.yield %20 : f16
    } -> tensor<256x50257xf16>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<256x50257xf16>) outs(%1 : tensor<256x50257xf32>) {
    ^bb0(%in: f16, %out: f32):
      %20 = arith.extf %in : f16 to f32
      linalg.yield %20 : f32
    } -> tensor<256x50257xf32>
    %7 = tensor.empty() : tensor<256xi64>
    %8 = linalg.fill ins(%c0_i64 : i64) outs(%7 : tensor<256xi64>) -> tensor<256xi64>
    %9 = tensor.empty() : tensor<256xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<256xf32>) -> tensor<256xf32>
    %11:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%6 : tensor<256x50257xf32>) outs(%10, %8 : tensor<256xf32>, tensor<256xi64>) {
    ^bb0(%in: f32, %out: f32, %out_1: i64):
      %20 = linalg.index 1 : index
      %21 = arith.index_cast %20 : index to i64
      %22 = arith.maximumf %in, %out : f32
      %23 = arith.cmpf ogt, %in, %out : f32
      %24 = arith.select %23, %21, %out_1 : i64
      linalg.yield %22, %24 : f32, i64
    } -> (tensor<256xf32>, tensor<256xi64>)
    %expanded = tensor.expand_shape %11#0 [[0, 1]] output_shape [256, 1] : tensor<256xf32> into tensor<256x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %expanded : tensor<256x50257xf32>, tensor<256x1xf32>) outs(%1 : tensor<256x50257xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %20 = arith.subf %in, %in_1 : f32
      linalg.yield %20 : f32
    } -> tensor<256x50257xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<256x50257xf32>) outs(%1 : tensor<256x50257xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.exp %in : f32
      linalg.yield %20 : f32
    } -> tensor<256x50257xf32>
    %14 = tensor.empty() : tensor<256x1xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<256x1xf32>) -> tensor<256x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%13 : tensor<256x50257xf32>) outs(%15 : tensor<256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %out : f32
      linalg.yield %20 : f32
    } -> tensor<256x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<256x1xf32>) outs(%14 : tensor<256x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.log %in : f32
      linalg.yield %20 : f32
    } -> tensor<256x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %17 : tensor<256x50257xf32>, tensor<256x1xf32>) outs(%1 : tensor<256x50257xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %20 = arith.subf %in, %in_1 : f32
      linalg.yield %20 : f32
    } -> tensor<256x50257xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<256x50257xf32>) outs(%4 : tensor<256x50257xf16>) {
    ^bb0(%in: f32, %out: f16):
      %20 = arith.truncf %in : f32 to f16
      linalg.yield %20 : f16
    } -> tensor<256x50257xf16>
    return %19 : tensor<256x50257xf16>
  }
}
