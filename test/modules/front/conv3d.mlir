// conv3d: f32 1x3x4x5x6, f32 4x3x3x3x3
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<1x3x4x5x6xf32>, %arg1: tensor<4x3x3x3x3xf32>) -> tensor<1x4x4x5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1, 1] high[0, 0, 1, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index):
      tensor.yield %cst : f32
    } : tensor<1x3x4x5x6xf32> to tensor<1x3x6x7x8xf32>
    %0 = tensor.empty() : tensor<1x4x4x5x6xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x4x4x5x6xf32>) -> tensor<1x4x4x5x6xf32>
    %2 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%padded, %arg1 : tensor<1x3x6x7x8xf32>, tensor<4x3x3x3x3xf32>) outs(%1 : tensor<1x4x4x5x6xf32>) -> tensor<1x4x4x5x6xf32>
    return %2 : tensor<1x4x4x5x6xf32>
  }
}
