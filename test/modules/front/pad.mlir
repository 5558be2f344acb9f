// pad: f32 6x9
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<6x9xf32>) -> tensor<9x12xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 1] high[3, 2] {
    ^bb0(%arg1: index, %arg2: index):
      tensor.yield %cst : f32
    } : tensor<6x9xf32> to tensor<9x12xf32>
    return %padded : tensor<9x12xf32>
  }
}
