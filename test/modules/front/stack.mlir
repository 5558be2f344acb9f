// stack: f32 6x9, f32 6x9
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<6x9xf32>, %arg1: tensor<6x9xf32>) -> tensor<6x2x9xf32> {
    %concat = tensor.concat dim(1) %arg0, %arg1 : (tensor<6x9xf32>, tensor<6x9xf32>) -> tensor<6x18xf32>
    %expanded = tensor.expand_shape %concat [[0], [1, 2]] output_shape [6, 2, 9] : tensor<6x18xf32> into tensor<6x2x9xf32>
    return %expanded : tensor<6x2x9xf32>
  }
}
