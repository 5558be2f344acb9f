// linear_bias_f16: 2x5x24 float16, 41x24 float16, 41 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<2x5x24xf16>, %arg1: tensor<41x24xf16>, %arg2: tensor<41xf16>) -> tensor<2x5x41xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x5x24xf16> into tensor<10x24xf16>
    %0 = tensor.empty() : tensor<24x41xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<41x24xf16>) outs(%0 : tensor<24x41xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<41xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<41xf16>) outs(%1 : tensor<41xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<41xf32>
    %3 = tensor.empty() : tensor<10x24xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<10x24xf16>) outs(%3 : tensor<10x24xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<10x24xf32>
    %5 = tensor.empty() : tensor<24x41xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<24x41xf16>) outs(%5 : tensor<24x41xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<24x41xf32>
    %7 = tensor.empty() : tensor<10x41xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x41xf32>) -> tensor<10x41xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<10x24xf32>, tensor<24x41xf32>) outs(%8 : tensor<10x41xf32>) -> tensor<10x41xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<10x41xf32>, tensor<41xf32>) outs(%7 : tensor<10x41xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %13 = arith.addf %in, %in_0 : f32
      linalg.yield %13 : f32
    } -> tensor<10x41xf32>
    %11 = tensor.empty() : tensor<10x41xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<10x41xf32>) outs(%11 : tensor<10x41xf16>) {
    ^bb0(%in: f32, %out: f16):
      %13 = arith.truncf %in : f32 to f16
      linalg.yield %13 : f16
    } -> tensor<10x41xf16>
    %expanded = tensor.expand_shape %12 [[0, 1], [2]] output_shape [2, 5, 41] : tensor<10x41xf16> into tensor<2x5x41xf16>
    return %expanded : tensor<2x5x41xf16>
  }
}
