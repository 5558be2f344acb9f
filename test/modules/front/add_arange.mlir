// add_arange: f32 9x13
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<9x13xf32>) -> tensor<9x13xf32> {
    %0 = tensor.empty() : tensor<13xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<13xi64>) {
    ^bb0(%out: i64):
      %6 = linalg.index 0 : index
      %7 = arith.index_cast %6 : index to i64
      linalg.yield %7 : i64
    } -> tensor<13xi64>
    %2 = tensor.empty() : tensor<13xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<13xi64>) outs(%2 : tensor<13xf32>) {
    ^bb0(%in: i64, %out: f32):
      %6 = arith.sitofp %in : i64 to f32
      linalg.yield %6 : f32
    } -> tensor<13xf32>
    %4 = tensor.empty() : tensor<9x13xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %3 : tensor<9x13xf32>, tensor<13xf32>) outs(%4 : tensor<9x13xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %6 = arith.addf %in, %in_0 : f32
      linalg.yield %6 : f32
    } -> tensor<9x13xf32>
    return %5 : tensor<9x13xf32>
  }
}
