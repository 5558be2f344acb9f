// open_products: f32 2x5x24, f32 24x40, f32 40
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<24x40xf32>, %arg2: tensor<40xf32>) -> tensor<?x?x40xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi slt, %0, %c0_i64 : i64
    %2 = arith.select %1, %c1, %dim : index
    %3 = tensor.empty(%2) : tensor<?x24x40xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<24x40xf32>) outs(%3 : tensor<?x24x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x24x40xf32>
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %5 = arith.index_cast %2 : index to i64
    %6 = arith.cmpi eq, %0, %5 : i64
    cf.assert %6, "mismatching contracting dimension"
    %7 = tensor.empty(%dim, %dim_0) : tensor<?x?x40xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
    %9 = linalg.batch_matmul ins(%arg0, %4 : tensor<?x?x24xf32>, tensor<?x24x40xf32>) outs(%8 : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %arg2 : tensor<?x?x40xf32>, tensor<40xf32>) outs(%7 : tensor<?x?x40xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %11 = arith.addf %in, %in_1 : f32
      linalg.yield %11 : f32
    } -> tensor<?x?x40xf32>
    return %10 : tensor<?x?x40xf32>
  }
}
