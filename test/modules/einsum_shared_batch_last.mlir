// einsum_shared_batch_last: 4x6x3 float32, 6x5x3 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<4x6x3xf32>, %arg1: tensor<6x5x3xf32>) -> tensor<4x5x3xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3]] output_shape [4, 6, 3, 1] : tensor<4x6x3xf32> into tensor<4x6x3x1xf32>
    %expanded_0 = tensor.expand_shape %arg1 [[0], [1], [2, 3]] output_shape [6, 5, 3, 1] : tensor<6x5x3xf32> into tensor<6x5x3x1xf32>
    %0 = tensor.empty() : tensor<3x4x6x1xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<4x6x3x1xf32>) outs(%0 : tensor<3x4x6x1xf32>) permutation = [2, 0, 1, 3] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1], [2, 3]] : tensor<3x4x6x1xf32> into tensor<3x4x6xf32>
    %1 = tensor.empty() : tensor<3x6x5x1xf32>
    %transposed_1 = linalg.transpose ins(%expanded_0 : tensor<6x5x3x1xf32>) outs(%1 : tensor<3x6x5x1xf32>) permutation = [2, 0, 1, 3] 
    %collapsed_2 = tensor.collapse_shape %transposed_1 [[0], [1], [2, 3]] : tensor<3x6x5x1xf32> into tensor<3x6x5xf32>
    %2 = tensor.empty() : tensor<3x4x5xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_2 : tensor<3x4x6xf32>, tensor<3x6x5xf32>) outs(%3 : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
    %expanded_3 = tensor.expand_shape %4 [[0], [1], [2, 3]] output_shape [3, 4, 1, 5] : tensor<3x4x5xf32> into tensor<3x4x1x5xf32>
    %5 = tensor.empty() : tensor<4x5x3x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<3x4x1x5xf32>) outs(%5 : tensor<4x5x3x1xf32>) permutation = [1, 3, 0, 2] 
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0], [1], [2, 3]] : tensor<4x5x3x1xf32> into tensor<4x5x3xf32>
    return %collapsed_5 : tensor<4x5x3xf32>
  }
}
