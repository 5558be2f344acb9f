// cat: f32 6x9, f32 6x4
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<6x9xf32>, %arg1: tensor<6x4xf32>) -> tensor<6x13xf32> {
    %concat = tensor.concat dim(1) %arg0, %arg1 : (tensor<6x9xf32>, tensor<6x4xf32>) -> tensor<6x13xf32>
    return %concat : tensor<6x13xf32>
  }
}
