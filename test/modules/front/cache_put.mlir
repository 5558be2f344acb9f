// cache_put: f32 2x9x16, f32 2x16, i64<9 2
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<2x9x16xf32>, %arg1: tensor<2x16xf32>, %arg2: tensor<2xi64>) -> tensor<2x9x16xf32> {
    %0 = tensor.empty() : tensor<2xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %3 = linalg.index 0 : index
      %4 = arith.index_cast %3 : index to i64
      linalg.yield %4 : i64
    } -> tensor<2xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
    %expanded_0 = tensor.expand_shape %arg2 [[0, 1]] output_shape [2, 1] : tensor<2xi64> into tensor<2x1xi64>
    %concat = tensor.concat dim(1) %expanded, %expanded_0 : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x2xi64>
    %expanded_1 = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [2, 1, 1, 16] : tensor<2x16xf32> into tensor<2x1x1x16xf32>
    %2 = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(true) ins(%expanded_1, %concat : tensor<2x1x1x16xf32>, tensor<2x2xi64>) outs(%arg0 : tensor<2x9x16xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      tm_tensor.yield %arg3 : f32
    } -> tensor<2x9x16xf32>
    return %2 : tensor<2x9x16xf32>
  }
}
