// conv_1x1: 2x12x5x6 float32, 16x12x1x1 float32, 16 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x12x5x6xf32>, %arg1: tensor<16x12x1x1xf32>, %arg2: tensor<16xf32>) -> tensor<2x16x5x6xf32> {
    %0 = tensor.empty() : tensor<2x16x5x6xf32>
    %broadcasted = linalg.broadcast ins(%arg2 : tensor<16xf32>) outs(%0 : tensor<2x16x5x6xf32>) dimensions = [0, 2, 3] 
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%arg0, %arg1 : tensor<2x12x5x6xf32>, tensor<16x12x1x1xf32>) outs(%broadcasted : tensor<2x16x5x6xf32>) -> tensor<2x16x5x6xf32>
    return %1 : tensor<2x16x5x6xf32>
  }
}
