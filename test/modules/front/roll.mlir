// roll: f32 6x9
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %extracted_slice = tensor.extract_slice %arg0[0, 7] [6, 2] [1, 1] : tensor<6x9xf32> to tensor<6x2xf32>
    %cast = tensor.cast %extracted_slice : tensor<6x2xf32> to tensor<6x?xf32>
    %extracted_slice_0 = tensor.extract_slice %arg0[0, 0] [6, 7] [1, 1] : tensor<6x9xf32> to tensor<6x7xf32>
    %cast_1 = tensor.cast %extracted_slice_0 : tensor<6x7xf32> to tensor<6x?xf32>
    %concat = tensor.concat dim(1) %cast, %cast_1 : (tensor<6x?xf32>, tensor<6x?xf32>) -> tensor<6x9xf32>
    return %concat : tensor<6x9xf32>
  }
}
