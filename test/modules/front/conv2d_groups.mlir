// conv2d_groups: f32 2x4x8x9, f32 6x2x3x3
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x4x8x9xf32>, %arg1: tensor<6x2x3x3xf32>) -> tensor<2x6x8x9xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : f32
    } : tensor<2x4x8x9xf32> to tensor<2x4x10x11xf32>
    %0 = tensor.empty() : tensor<2x6x8x9xf32>
    %expanded = tensor.expand_shape %padded [[0], [1, 2], [3], [4]] output_shape [2, 2, 2, 10, 11] : tensor<2x4x10x11xf32> into tensor<2x2x2x10x11xf32>
    %expanded_0 = tensor.expand_shape %arg1 [[0, 1], [2], [3], [4]] output_shape [2, 3, 2, 3, 3] : tensor<6x2x3x3xf32> into tensor<2x3x2x3x3xf32>
    %expanded_1 = tensor.expand_shape %0 [[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 8, 9] : tensor<2x6x8x9xf32> into tensor<2x2x3x8x9xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%expanded_1 : tensor<2x2x3x8x9xf32>) -> tensor<2x2x3x8x9xf32>
    %2 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%expanded, %expanded_0 : tensor<2x2x2x10x11xf32>, tensor<2x3x2x3x3xf32>) outs(%1 : tensor<2x2x3x8x9xf32>) -> tensor<2x2x3x8x9xf32>
    %collapsed = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<2x2x3x8x9xf32> into tensor<2x6x8x9xf32>
    return %collapsed : tensor<2x6x8x9xf32>
  }
}
