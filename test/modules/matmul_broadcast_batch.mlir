// matmul_broadcast_batch: 2x3x5x16 float32, 16x12 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x3x5x16xf32>, %arg1: tensor<16x12xf32>) -> tensor<2x3x5x12xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3]] : tensor<2x3x5x16xf32> into tensor<30x16xf32>
    %0 = tensor.empty() : tensor<30x12xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<30x12xf32>) -> tensor<30x12xf32>
    %2 = linalg.matmul ins(%collapsed, %arg1 : tensor<30x16xf32>, tensor<16x12xf32>) outs(%1 : tensor<30x12xf32>) -> tensor<30x12xf32>
    %expanded = tensor.expand_shape %2 [[0, 1, 2], [3]] output_shape [2, 3, 5, 12] : tensor<30x12xf32> into tensor<2x3x5x12xf32>
    return %expanded : tensor<2x3x5x12xf32>
  }
}
