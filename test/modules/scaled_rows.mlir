// scaled_rows: 10x24 float16, 10x1 float16, 40x24 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @main(%arg0: tensor<10x24xf16>, %arg1: tensor<10x1xf16>, %arg2: tensor<40x24xf16>) -> tensor<10x40xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<10x24xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<10x24xf16>, tensor<10x1xf16>) outs(%0 : tensor<10x24xf16>) {
    ^bb0(%in: f16, %in_0: f16, %out: f16):
      %8 = arith.mulf %in, %in_0 : f16
      linalg.yield %8 : f16
    } -> tensor<10x24xf16>
    %2 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<40x24xf16>) outs(%2 : tensor<24x40xf16>) permutation = [1, 0] 
    %3 = tensor.empty() : tensor<10x40xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %5 = linalg.matmul ins(%1, %transposed : tensor<10x24xf16>, tensor<24x40xf16>) outs(%4 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %6 = tensor.empty() : tensor<10x40xf16>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<10x40xf32>) outs(%6 : tensor<10x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %8 = arith.truncf %in : f32 to f16
      linalg.yield %8 : f16
    } -> tensor<10x40xf16>
    return %7 : tensor<10x40xf16>
  }
}
