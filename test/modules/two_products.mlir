// two_products: 16x24 float16, 24x32 float16, 32x8 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<16x24xf16>, %arg1: tensor<24x32xf16>, %arg2: tensor<32x8xf16>) -> tensor<16x8xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<16x32xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<16x24xf16>, tensor<24x32xf16>) outs(%1 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %3 = tensor.empty() : tensor<16x32xf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<16x32xf32>) outs(%3 : tensor<16x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %10 = arith.truncf %in : f32 to f16
      linalg.yield %10 : f16
    } -> tensor<16x32xf16>
    %5 = tensor.empty() : tensor<16x8xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<16x8xf32>) -> tensor<16x8xf32>
    %7 = linalg.matmul ins(%4, %arg2 : tensor<16x32xf16>, tensor<32x8xf16>) outs(%6 : tensor<16x8xf32>) -> tensor<16x8xf32>
    %8 = tensor.empty() : tensor<16x8xf16>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<16x8xf32>) outs(%8 : tensor<16x8xf16>) {
    ^bb0(%in: f32, %out: f16):
      %10 = arith.truncf %in : f32 to f16
      linalg.yield %10 : f16
    } -> tensor<16x8xf16>
    return %9 : tensor<16x8xf16>
  }
}
