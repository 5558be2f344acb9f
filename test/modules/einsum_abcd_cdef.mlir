// einsum_abcd_cdef: 2x3x4x5 float32, 4x5x6x7 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<4x5x6x7xf32>) -> tensor<2x3x6x7xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2, 3]] : tensor<2x3x4x5xf32> into tensor<6x20xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [1, 6, 20] : tensor<6x20xf32> into tensor<1x6x20xf32>
    %collapsed_0 = tensor.collapse_shape %arg1 [[0, 1], [2, 3]] : tensor<4x5x6x7xf32> into tensor<20x42xf32>
    %expanded_1 = tensor.expand_shape %collapsed_0 [[0, 1], [2]] output_shape [1, 20, 42] : tensor<20x42xf32> into tensor<1x20x42xf32>
    %0 = tensor.empty() : tensor<1x6x42xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x6x42xf32>) -> tensor<1x6x42xf32>
    %2 = linalg.batch_matmul ins(%expanded, %expanded_1 : tensor<1x6x20xf32>, tensor<1x20x42xf32>) outs(%1 : tensor<1x6x42xf32>) -> tensor<1x6x42xf32>
    %collapsed_2 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<1x6x42xf32> into tensor<6x42xf32>
    %expanded_3 = tensor.expand_shape %collapsed_2 [[0, 1], [2, 3, 4, 5]] output_shape [2, 3, 1, 1, 6, 7] : tensor<6x42xf32> into tensor<2x3x1x1x6x7xf32>
    %3 = tensor.empty() : tensor<2x3x6x7x1x1xf32>
    %transposed = linalg.transpose ins(%expanded_3 : tensor<2x3x1x1x6x7xf32>) outs(%3 : tensor<2x3x6x7x1x1xf32>) permutation = [0, 1, 4, 5, 2, 3] 
    %collapsed_4 = tensor.collapse_shape %transposed [[0], [1], [2], [3, 4, 5]] : tensor<2x3x6x7x1x1xf32> into tensor<2x3x6x7xf32>
    return %collapsed_4 : tensor<2x3x6x7xf32>
  }
}
