// open_average_pool: f32 2x4x7x6
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
module {
  func.func @main(%arg0: tensor<2x4x?x?xf32>) -> tensor<2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %0 = tensor.empty() : tensor<2x4x1x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%arg0 : tensor<2x4x?x?xf32>) outs(%1 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = arith.addf %in, %out : f32
      linalg.yield %7 : f32
    } -> tensor<2x4x1x1xf32>
    %dim = tensor.dim %arg0, %c3 : tensor<2x4x?x?xf32>
    %3 = arith.index_cast %dim : index to i64
    %dim_0 = tensor.dim %arg0, %c2 : tensor<2x4x?x?xf32>
    %4 = arith.index_cast %dim_0 : index to i64
    %5 = arith.muli %3, %4 : i64
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x4x1x1xf32>) outs(%0 : tensor<2x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = arith.sitofp %5 : i64 to f32
      %8 = arith.divf %in, %7 : f32
      linalg.yield %8 : f32
    } -> tensor<2x4x1x1xf32>
    %collapsed = tensor.collapse_shape %6 [[0], [1, 2, 3]] : tensor<2x4x1x1xf32> into tensor<2x4xf32>
    return %collapsed : tensor<2x4xf32>
  }
}
