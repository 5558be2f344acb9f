// addmm_row_f16: 32 float16, 16x40 float16, 40x32 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<32xf16>, %arg1: tensor<16x40xf16>, %arg2: tensor<40x32xf16>) -> tensor<16x32xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<32xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<32xf16>) outs(%0 : tensor<32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<32xf32>
    %2 = tensor.empty() : tensor<16x40xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<16x40xf16>) outs(%2 : tensor<16x40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<16x40xf32>
    %4 = tensor.empty() : tensor<40x32xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<40x32xf16>) outs(%4 : tensor<40x32xf32>) {
    ^bb0(%in: f16, %out: f32):
      %13 = arith.extf %in : f16 to f32
      linalg.yield %13 : f32
    } -> tensor<40x32xf32>
    %6 = tensor.empty() : tensor<16x32xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %8 = linalg.matmul ins(%3, %5 : tensor<16x40xf32>, tensor<40x32xf32>) outs(%7 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<16x32xf32>) outs(%6 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.mulf %in, %cst_0 : f32
      linalg.yield %13 : f32
    } -> tensor<16x32xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %1 : tensor<16x32xf32>, tensor<32xf32>) outs(%6 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %13 = arith.addf %in, %in_1 : f32
      linalg.yield %13 : f32
    } -> tensor<16x32xf32>
    %11 = tensor.empty() : tensor<16x32xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<16x32xf32>) outs(%11 : tensor<16x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %13 = arith.truncf %in : f32 to f16
      linalg.yield %13 : f16
    } -> tensor<16x32xf16>
    return %12 : tensor<16x32xf16>
  }
}
