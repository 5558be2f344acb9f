// cache_row: f32 2x9x16, f32 2x1x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<2x9x16xf32>, %arg1: tensor<2x1x16xf32>) -> tensor<2x9x16xf32> {
    %inserted_slice = tensor.insert_slice %arg1 into %arg0[0, 4, 0] [2, 1, 16] [1, 1, 1] : tensor<2x1x16xf32> into tensor<2x9x16xf32>
    return %inserted_slice : tensor<2x9x16xf32>
  }
}
