// open_linear_both: f32 2x5x24, f32 40x24, f32 40
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<40x24xf32>, %arg2: tensor<40xf32>) -> tensor<?x?x40xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c40_i64 = arith.constant 40 : i64
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %1 = arith.index_cast %dim_0 : index to i64
    %cast = tensor.cast %arg0 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %2 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%2 : tensor<24x40xf32>) permutation = [1, 0] 
    %dim_1 = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %3 = tensor.empty(%dim_1) : tensor<?x40xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x40xf32>) outs(%4 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %arg2 : tensor<?x40xf32>, tensor<40xf32>) outs(%3 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %22 = arith.addf %in, %in_2 : f32
      linalg.yield %22 : f32
    } -> tensor<?x40xf32>
    %7 = arith.cmpi slt, %0, %c0_i64 : i64
    %8 = arith.select %7, %c1_i64, %0 : i64
    %9 = arith.extui %7 : i1 to i64
    %10 = arith.muli %8, %1 : i64
    %11 = arith.addi %9, %c1_i64 : i64
    %12 = arith.cmpi slt, %1, %c0_i64 : i64
    %13 = arith.select %12, %8, %10 : i64
    %14 = arith.select %12, %11, %9 : i64
    %15 = arith.muli %13, %c40_i64 : i64
    %16 = arith.cmpi sle, %14, %c1_i64 : i64
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %17 = arith.index_cast %dim_1 : index to i64
    %18 = arith.muli %17, %c40_i64 : i64
    %19 = arith.divsi %18, %15 : i64
    %20 = arith.select %7, %19, %0 : i64
    %21 = arith.select %12, %19, %1 : i64
    %from_elements = tensor.from_elements %20, %21, %c40_i64 : tensor<3xi64>
    %reshape = tensor.reshape %6(%from_elements) : (tensor<?x40xf32>, tensor<3xi64>) -> tensor<?x?x40xf32>
    return %reshape : tensor<?x?x40xf32>
  }
}
