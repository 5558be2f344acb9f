// put_added: f16 20x16, i64<20 3x5, f16 3x5x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<20x16xf16>, %arg1: tensor<3x5xi64>, %arg2: tensor<3x5x16xf16>) -> tensor<20x16xf16> {
    %collapsed = tensor.collapse_shape %arg1 [[0, 1]] : tensor<3x5xi64> into tensor<15xi64>
    %expanded = tensor.expand_shape %collapsed [[0, 1]] output_shape [15, 1] : tensor<15xi64> into tensor<15x1xi64>
    %collapsed_0 = tensor.collapse_shape %arg2 [[0, 1], [2]] : tensor<3x5x16xf16> into tensor<15x16xf16>
    %expanded_1 = tensor.expand_shape %collapsed_0 [[0], [1, 2]] output_shape [15, 1, 16] : tensor<15x16xf16> into tensor<15x1x16xf16>
    %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%expanded_1, %expanded : tensor<15x1x16xf16>, tensor<15x1xi64>) outs(%arg0 : tensor<20x16xf16>) {
    ^bb0(%arg3: f16, %arg4: f16):
      %1 = arith.addf %arg4, %arg3 : f16
      tm_tensor.yield %1 : f16
    } -> tensor<20x16xf16>
    return %0 : tensor<20x16xf16>
  }
}
