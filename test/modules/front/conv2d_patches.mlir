// conv2d_patches: f32 2x3x8x8, f32 6x3x4x4
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x3x8x8xf32>, %arg1: tensor<6x3x4x4xf32>) -> tensor<2x6x2x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x6x2x2xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>} ins(%arg0, %arg1 : tensor<2x3x8x8xf32>, tensor<6x3x4x4xf32>) outs(%1 : tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32>
    return %2 : tensor<2x6x2x2xf32>
  }
}
