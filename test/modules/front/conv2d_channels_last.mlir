// conv2d_channels_last: f32 2x8x9x4, f32 6x3x3x4
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x8x9x4xf32>, %arg1: tensor<6x3x3x4xf32>) -> tensor<2x8x9x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x4x8x9xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<2x8x9x4xf32>) outs(%0 : tensor<2x4x8x9xf32>) permutation = [0, 3, 1, 2] 
    %1 = tensor.empty() : tensor<6x4x3x3xf32>
    %transposed_0 = linalg.transpose ins(%arg1 : tensor<6x3x3x4xf32>) outs(%1 : tensor<6x4x3x3xf32>) permutation = [0, 3, 1, 2] 
    %padded = tensor.pad %transposed low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : f32
    } : tensor<2x4x8x9xf32> to tensor<2x4x10x11xf32>
    %2 = tensor.empty() : tensor<2x6x8x9xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<2x6x8x9xf32>) -> tensor<2x6x8x9xf32>
    %4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %transposed_0 : tensor<2x4x10x11xf32>, tensor<6x4x3x3xf32>) outs(%3 : tensor<2x6x8x9xf32>) -> tensor<2x6x8x9xf32>
    %5 = tensor.empty() : tensor<2x8x9x6xf32>
    %transposed_1 = linalg.transpose ins(%4 : tensor<2x6x8x9xf32>) outs(%5 : tensor<2x8x9x6xf32>) permutation = [0, 2, 3, 1] 
    return %transposed_1 : tensor<2x8x9x6xf32>
  }
}
