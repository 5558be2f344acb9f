// vecmat: 40 float16, 40x33 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<40xf16>, %arg1: tensor<40x33xf16>) -> tensor<33xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [1, 40] : tensor<40xf16> into tensor<1x40xf16>
    %0 = tensor.empty() : tensor<1x33xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x33xf32>) -> tensor<1x33xf32>
    %2 = linalg.matmul ins(%expanded, %arg1 : tensor<1x40xf16>, tensor<40x33xf16>) outs(%1 : tensor<1x33xf32>) -> tensor<1x33xf32>
    %3 = tensor.empty() : tensor<1x33xf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x33xf32>) outs(%3 : tensor<1x33xf16>) {
    ^bb0(%in: f32, %out: f16):
      %5 = arith.truncf %in : f32 to f16
      linalg.yield %5 : f16
    } -> tensor<1x33xf16>
    %collapsed = tensor.collapse_shape %4 [[0, 1]] : tensor<1x33xf16> into tensor<33xf16>
    return %collapsed : tensor<33xf16>
  }
}
