// embedding: i64<20 3x5, f32 20x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<3x5xi64>, %arg1: tensor<20x16xf32>) -> tensor<3x5x16xf32> {
    %c20 = arith.constant 20 : index
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<3x5x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<3x5xi64>) outs(%0 : tensor<3x5x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %2 = arith.index_cast %in : i64 to index
      %3 = linalg.index 2 : index
      %4 = arith.cmpi slt, %2, %c20 : index
      cf.assert %4, "index must be smaller than dim size"
      %5 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %5, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%2, %3] : tensor<20x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<3x5x16xf32>
    return %1 : tensor<3x5x16xf32>
  }
}
