// conv2d_f16: f16 2x4x8x9, f16 6x4x3x3, f16 6
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x4x8x9xf16>, %arg1: tensor<6x4x3x3xf16>, %arg2: tensor<6xf16>) -> tensor<2x6x8x9xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index):
      tensor.yield %cst : f16
    } : tensor<2x4x8x9xf16> to tensor<2x4x10x11xf16>
    %0 = tensor.empty() : tensor<2x6x8x9xf32>
    %1 = tensor.empty() : tensor<6xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<6xf16>) outs(%1 : tensor<6xf32>) {
    ^bb0(%in: f16, %out: f32):
      %6 = arith.extf %in : f16 to f32
      linalg.yield %6 : f32
    } -> tensor<6xf32>
    %broadcasted = linalg.broadcast ins(%2 : tensor<6xf32>) outs(%0 : tensor<2x6x8x9xf32>) dimensions = [0, 2, 3] 
    %3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %arg1 : tensor<2x4x10x11xf16>, tensor<6x4x3x3xf16>) outs(%broadcasted : tensor<2x6x8x9xf32>) -> tensor<2x6x8x9xf32>
    %4 = tensor.empty() : tensor<2x6x8x9xf16>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<2x6x8x9xf32>) outs(%4 : tensor<2x6x8x9xf16>) {
    ^bb0(%in: f32, %out: f16):
      %6 = arith.truncf %in : f32 to f16
      linalg.yield %6 : f16
    } -> tensor<2x6x8x9xf16>
    return %5 : tensor<2x6x8x9xf16>
  }
}
