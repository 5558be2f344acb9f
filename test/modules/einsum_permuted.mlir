// einsum_permuted: 3x5x16 float32, 16x9 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<3x5x16xf32>, %arg1: tensor<16x9xf32>) -> tensor<9x3x5xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3]] output_shape [3, 5, 16, 1] : tensor<3x5x16xf32> into tensor<3x5x16x1xf32>
    %expanded_0 = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [16, 9, 1, 1] : tensor<16x9xf32> into tensor<16x9x1x1xf32>
    %0 = tensor.empty() : tensor<9x16x1x1xf32>
    %transposed = linalg.transpose ins(%expanded_0 : tensor<16x9x1x1xf32>) outs(%0 : tensor<9x16x1x1xf32>) permutation = [1, 0, 2, 3] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1, 2, 3]] : tensor<9x16x1x1xf32> into tensor<9x16xf32>
    %expanded_1 = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [1, 9, 16] : tensor<9x16xf32> into tensor<1x9x16xf32>
    %1 = tensor.empty() : tensor<16x3x5x1xf32>
    %transposed_2 = linalg.transpose ins(%expanded : tensor<3x5x16x1xf32>) outs(%1 : tensor<16x3x5x1xf32>) permutation = [2, 0, 1, 3] 
    %collapsed_3 = tensor.collapse_shape %transposed_2 [[0], [1, 2, 3]] : tensor<16x3x5x1xf32> into tensor<16x15xf32>
    %expanded_4 = tensor.expand_shape %collapsed_3 [[0, 1], [2]] output_shape [1, 16, 15] : tensor<16x15xf32> into tensor<1x16x15xf32>
    %2 = tensor.empty() : tensor<1x9x15xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<1x9x15xf32>) -> tensor<1x9x15xf32>
    %4 = linalg.batch_matmul ins(%expanded_1, %expanded_4 : tensor<1x9x16xf32>, tensor<1x16x15xf32>) outs(%3 : tensor<1x9x15xf32>) -> tensor<1x9x15xf32>
    %collapsed_5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<1x9x15xf32> into tensor<9x15xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0], [1, 2, 3]] output_shape [9, 1, 3, 5] : tensor<9x15xf32> into tensor<9x1x3x5xf32>
    %5 = tensor.empty() : tensor<9x3x5x1xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<9x1x3x5xf32>) outs(%5 : tensor<9x3x5x1xf32>) permutation = [0, 2, 3, 1] 
    %collapsed_8 = tensor.collapse_shape %transposed_7 [[0], [1], [2, 3]] : tensor<9x3x5x1xf32> into tensor<9x3x5xf32>
    return %collapsed_8 : tensor<9x3x5xf32>
  }
}
