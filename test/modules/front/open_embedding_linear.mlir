// open_embedding_linear: i64<20 2x5, f32 20x16, f32 20x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<?x?xi64>, %arg1: tensor<20x16xf32>, %arg2: tensor<20x16xf32>) -> tensor<?x?x20xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c20 = arith.constant 20 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c20_i64 = arith.constant 20 : i64
    %c1 = arith.constant 1 : index
    %cst_0 = arith.constant 4.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?xi64>
    %0 = arith.index_cast %dim : index to i64
    %dim_1 = tensor.dim %arg0, %c1 : tensor<?x?xi64>
    %1 = arith.index_cast %dim_1 : index to i64
    %2 = tensor.empty(%dim) : tensor<?x1x16xf32>
    %cast = tensor.cast %arg0 : tensor<?x?xi64> to tensor<?x1xi64>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast : tensor<?x1xi64>) outs(%2 : tensor<?x1x16xf32>) {
    ^bb0(%in: i64, %out: f32):
      %24 = arith.index_cast %in : i64 to index
      %25 = linalg.index 2 : index
      %26 = arith.cmpi slt, %24, %c20 : index
      cf.assert %26, "index must be smaller than dim size"
      %27 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %27, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%24, %25] : tensor<20x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x1x16xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<?x1x16xf32>) outs(%2 : tensor<?x1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.mulf %in, %cst_0 : f32
      linalg.yield %24 : f32
    } -> tensor<?x1x16xf32>
    %5 = tensor.empty() : tensor<16x20xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<20x16xf32>) outs(%5 : tensor<16x20xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
    %dim_2 = tensor.dim %arg0, %c0 : tensor<?x?xi64>
    %6 = tensor.empty(%dim_2) : tensor<?x20xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<?x20xf32>) -> tensor<?x20xf32>
    %8 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x20xf32>) outs(%7 : tensor<?x20xf32>) -> tensor<?x20xf32>
    %9 = arith.cmpi slt, %0, %c0_i64 : i64
    %10 = arith.select %9, %c1_i64, %0 : i64
    %11 = arith.extui %9 : i1 to i64
    %12 = arith.muli %10, %1 : i64
    %13 = arith.addi %11, %c1_i64 : i64
    %14 = arith.cmpi slt, %1, %c0_i64 : i64
    %15 = arith.select %14, %10, %12 : i64
    %16 = arith.select %14, %13, %11 : i64
    %17 = arith.muli %15, %c20_i64 : i64
    %18 = arith.cmpi sle, %16, %c1_i64 : i64
    cf.assert %18, "must have at most one inferred (negative) dimension"
    %19 = arith.index_cast %dim_2 : index to i64
    %20 = arith.muli %19, %c20_i64 : i64
    %21 = arith.divsi %20, %17 : i64
    %22 = arith.select %9, %21, %0 : i64
    %23 = arith.select %14, %21, %1 : i64
    %from_elements = tensor.from_elements %22, %23, %c20_i64 : tensor<3xi64>
    %reshape = tensor.reshape %8(%from_elements) : (tensor<?x20xf32>, tensor<3xi64>) -> tensor<?x?x20xf32>
    return %reshape : tensor<?x?x20xf32>
  }
}
