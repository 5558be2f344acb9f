#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @main(%arg0: tensor<2048x4096xbf16>, %arg1: tensor<4096x4096xbf16>) -> (tensor<2048x4096xi8>, tensor<2048x1xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.270000e+02 : f32
    %0 = tensor.empty() : tensor<4096x4096xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<4096x4096xbf16>) outs(%0 : tensor<4096x4096xbf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<2048x4096xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<2048x4096xbf16>, tensor<4096x4096xbf16>) outs(%2 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %4 = tensor.empty() : tensor<2048x4096xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<2048x4096xf32>) outs(%4 : tensor<2048x4096xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %19 = arith.truncf %in : f32 to bf16
      linalg.yield %19 : bf16
    } -> tensor<2048x4096xbf16>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2048x4096xbf16>) outs(%1 : tensor<2048x4096xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %19 = arith.extf %in : bf16 to f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<2048x4096xf32>) outs(%1 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.absf %in : f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %8 = tensor.empty() : tensor<2048xi64>
    %9 = linalg.fill ins(%c0_i64 : i64) outs(%8 : tensor<2048xi64>) -> tensor<2048xi64>
    %10 = tensor.empty() : tensor<2048xf32>
    %11 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<2048xf32>) -> tensor<2048xf32>
    %12:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<2048x4096xf32>) outs(%11, %9 : tensor<2048xf32>, tensor<2048xi64>) {
    ^bb0(%in: f32, %out: f32, %out_2: i64):
      %19 = linalg.index 1 : index
      %20 = arith.index_cast %19 : index to i64
      %21 = arith.maximumf %in, %out : f32
      %22 = arith.cmpf ogt, %in, %out : f32
      %23 = arith.select %22, %20, %out_2 : i64
      linalg.yield %21, %23 : f32, i64
    } -> (tensor<2048xf32>, tensor<2048xi64>)
    %expanded = tensor.expand_shape %12#0 [[0, 1]] output_shape [2048, 1] : tensor<2048xf32> into tensor<2048x1xf32>
    %13 = tensor.empty() : tensor<2048x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<2048x1xf32>) outs(%13 : tensor<2048x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.divf %in, %cst_1 : f32
      linalg.yield %19 : f32
    } -> tensor<2048x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %14 : tensor<2048x4096xf32>, tensor<2048x1xf32>) outs(%1 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %19 = arith.divf %in, %in_2 : f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<2048x4096xf32>) outs(%1 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.roundeven %in : f32
      linalg.yield %19 : f32
    } -> tensor<2048x4096xf32>
    %17 = tensor.empty() : tensor<2048x4096xi8>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<2048x4096xf32>) outs(%17 : tensor<2048x4096xi8>) {
    ^bb0(%in: f32, %out: i8):
      %19 = arith.fptosi %in : f32 to i8
      linalg.yield %19 : i8
    } -> tensor<2048x4096xi8>
    return %18, %14 : tensor<2048x4096xi8>, tensor<2048x1xf32>
  }
}
