// dynamic_batch: 6x24 float16, 40x24 float16, 40 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x24xf16>, %arg1: tensor<40x24xf16>, %arg2: tensor<40xf16>) -> tensor<?x40xf16> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf16>) outs(%0 : tensor<24x40xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<40xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<40xf16>) outs(%1 : tensor<40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<40xf32>
    %dim = tensor.dim %arg0, %c0 : tensor<?x24xf16>
    %3 = tensor.empty(%dim) : tensor<?x24xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<?x24xf16>) outs(%3 : tensor<?x24xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<?x24xf32>
    %5 = tensor.empty() : tensor<24x40xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<24x40xf16>) outs(%5 : tensor<24x40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<24x40xf32>
    %7 = tensor.empty(%dim) : tensor<?x40xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<?x24xf32>, tensor<24x40xf32>) outs(%8 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<?x40xf32>, tensor<40xf32>) outs(%7 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %13 = arith.addf %in, %in_0 : f32
      linalg.yield %13 : f32
    } -> tensor<?x40xf32>
    %11 = tensor.empty(%dim) : tensor<?x40xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<?x40xf32>) outs(%11 : tensor<?x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %13 = arith.truncf %in : f32 to f16
      linalg.yield %13 : f16
    } -> tensor<?x40xf16>
    return %12 : tensor<?x40xf16>
  }
}
