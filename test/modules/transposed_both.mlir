// transposed_both: 40x17 float32, 33x40 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<40x17xf32>, %arg1: tensor<33x40xf32>) -> tensor<17x33xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<17x40xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<40x17xf32>) outs(%0 : tensor<17x40xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<40x33xf32>
    %transposed_0 = linalg.transpose ins(%arg1 : tensor<33x40xf32>) outs(%1 : tensor<40x33xf32>) permutation = [1, 0] 
    %2 = tensor.empty() : tensor<17x33xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<17x33xf32>) -> tensor<17x33xf32>
    %4 = linalg.matmul ins(%transposed, %transposed_0 : tensor<17x40xf32>, tensor<40x33xf32>) outs(%3 : tensor<17x33xf32>) -> tensor<17x33xf32>
    return %4 : tensor<17x33xf32>
  }
}
