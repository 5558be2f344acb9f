// index_select: f32 6x9, i64<9 4
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<6x9xf32>, %arg1: tensor<4xi64>) -> tensor<6x4xf32> {
    %0 = tensor.empty() : tensor<6x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<4xi64>) outs(%0 : tensor<6x4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %2 = arith.index_cast %in : i64 to index
      %3 = linalg.index 0 : index
      %extracted = tensor.extract %arg0[%3, %2] : tensor<6x9xf32>
      linalg.yield %extracted : f32
    } -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}
