// lora: 10x24 float16, 40x24 float16, 24x4 float16, 4x40 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<10x24xf16>, %arg1: tensor<40x24xf16>, %arg2: tensor<24x4xf16>, %arg3: tensor<4x40xf16>) -> tensor<10x40xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.000000e+00 : f16
    %0 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf16>) outs(%0 : tensor<24x40xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<10x40xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<10x24xf16>, tensor<24x40xf16>) outs(%2 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %4 = tensor.empty() : tensor<10x40xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<10x40xf32>) outs(%4 : tensor<10x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %15 = arith.truncf %in : f32 to f16
      linalg.yield %15 : f16
    } -> tensor<10x40xf16>
    %6 = tensor.empty() : tensor<10x4xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<10x4xf32>) -> tensor<10x4xf32>
    %8 = linalg.matmul ins(%arg0, %arg2 : tensor<10x24xf16>, tensor<24x4xf16>) outs(%7 : tensor<10x4xf32>) -> tensor<10x4xf32>
    %9 = tensor.empty() : tensor<10x4xf16>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<10x4xf32>) outs(%9 : tensor<10x4xf16>) {
    ^bb0(%in: f32, %out: f16):
      %15 = arith.truncf %in : f32 to f16
      linalg.yield %15 : f16
    } -> tensor<10x4xf16>
    %11 = linalg.matmul ins(%10, %arg3 : tensor<10x4xf16>, tensor<4x40xf16>) outs(%2 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<10x40xf32>) outs(%4 : tensor<10x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %15 = arith.truncf %in : f32 to f16
      linalg.yield %15 : f16
    } -> tensor<10x40xf16>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<10x40xf16>) outs(%4 : tensor<10x40xf16>) {
    ^bb0(%in: f16, %out: f16):
      %15 = arith.mulf %in, %cst_0 : f16
      linalg.yield %15 : f16
    } -> tensor<10x40xf16>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %13 : tensor<10x40xf16>, tensor<10x40xf16>) outs(%4 : tensor<10x40xf16>) {
    ^bb0(%in: f16, %in_1: f16, %out: f16):
      %15 = arith.addf %in, %in_1 : f16
      linalg.yield %15 : f16
    } -> tensor<10x40xf16>
    return %14 : tensor<10x40xf16>
  }
}
