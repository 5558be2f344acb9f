// slice_product: f32 6x9, f32 5x8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<6x9xf32>, %arg1: tensor<5x8xf32>) -> tensor<6x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg0[0, 2] [6, 5] [1, 1] : tensor<6x9xf32> to tensor<6x5xf32>
    %0 = tensor.empty() : tensor<6x8xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %2 = linalg.matmul ins(%extracted_slice, %arg1 : tensor<6x5xf32>, tensor<5x8xf32>) outs(%1 : tensor<6x8xf32>) -> tensor<6x8xf32>
    return %2 : tensor<6x8xf32>
  }
}
