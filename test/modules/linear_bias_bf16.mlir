// linear_bias_bf16: 10x24 bfloat16, 40x24 bfloat16, 40 bfloat16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<10x24xbf16>, %arg1: tensor<40x24xbf16>, %arg2: tensor<40xbf16>) -> tensor<10x40xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<24x40xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xbf16>) outs(%0 : tensor<24x40xbf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<40xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<40xbf16>) outs(%1 : tensor<40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<40xf32>
    %3 = tensor.empty() : tensor<10x24xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<10x24xbf16>) outs(%3 : tensor<10x24xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<10x24xf32>
    %5 = tensor.empty() : tensor<24x40xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<24x40xbf16>) outs(%5 : tensor<24x40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<24x40xf32>
    %7 = tensor.empty() : tensor<10x40xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<10x24xf32>, tensor<24x40xf32>) outs(%8 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<10x40xf32>, tensor<40xf32>) outs(%7 : tensor<10x40xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %13 = arith.addf %in, %in_0 : f32
      linalg.yield %13 : f32
    } -> tensor<10x40xf32>
    %11 = tensor.empty() : tensor<10x40xbf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<10x40xf32>) outs(%11 : tensor<10x40xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %13 = arith.truncf %in : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<10x40xbf16>
    return %12 : tensor<10x40xbf16>
  }
}
