// matmul_f64: 17x20 float64, 20x9 float64
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<17x20xf64>, %arg1: tensor<20x9xf64>) -> tensor<17x9xf64> {
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<17x9xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<17x9xf64>) -> tensor<17x9xf64>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<17x20xf64>, tensor<20x9xf64>) outs(%1 : tensor<17x9xf64>) -> tensor<17x9xf64>
    return %2 : tensor<17x9xf64>
  }
}
