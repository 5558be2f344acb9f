// linear_f32: 2x5x24 float32, 40x24 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x5x24xf32>, %arg1: tensor<40x24xf32>) -> tensor<2x5x40xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%0 : tensor<24x40xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x5x24xf32> into tensor<10x24xf32>
    %1 = tensor.empty() : tensor<10x40xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<10x24xf32>, tensor<24x40xf32>) outs(%2 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2]] output_shape [2, 5, 40] : tensor<10x40xf32> into tensor<2x5x40xf32>
    return %expanded : tensor<2x5x40xf32>
  }
}
