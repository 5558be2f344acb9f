// int8: 24x32 int8, 32x16 int8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<24x32xi8>, %arg1: tensor<32x16xi8>) -> tensor<24x16xi32> {
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<24x16xi32>
    %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<24x16xi32>) -> tensor<24x16xi32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<24x32xi8>, tensor<32x16xi8>) outs(%1 : tensor<24x16xi32>) -> tensor<24x16xi32>
    return %2 : tensor<24x16xi32>
  }
}
