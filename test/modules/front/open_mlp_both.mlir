// open_mlp_both: f32 2x5x24, f32 40x24, f32 40, f32 24x40, f32 24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<40x24xf32>, %arg2: tensor<40xf32>, %arg3: tensor<24x40xf32>, %arg4: tensor<24xf32>) -> tensor<?x?x24xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c24_i64 = arith.constant 24 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c40_i64 = arith.constant 40 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %c1 = arith.constant 1 : index
    %cst_2 = arith.constant 1.41421354 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_3 = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %1 = arith.index_cast %dim_3 : index to i64
    %cast = tensor.cast %arg0 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %2 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%2 : tensor<24x40xf32>) permutation = [1, 0] 
    %dim_4 = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %3 = tensor.empty(%dim_4) : tensor<?x40xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x40xf32>) outs(%4 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %arg2 : tensor<?x40xf32>, tensor<40xf32>) outs(%3 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %36 = arith.addf %in, %in_10 : f32
      linalg.yield %36 : f32
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
    %17 = arith.index_cast %dim_4 : index to i64
    %18 = arith.muli %17, %c40_i64 : i64
    %19 = arith.divsi %18, %15 : i64
    %20 = arith.select %7, %19, %0 : i64
    %21 = arith.select %12, %19, %1 : i64
    %from_elements = tensor.from_elements %20, %21, %c40_i64 : tensor<3xi64>
    %reshape = tensor.reshape %6(%from_elements) : (tensor<?x40xf32>, tensor<3xi64>) -> tensor<?x?x40xf32>
    %22 = arith.index_cast %20 : i64 to index
    %23 = tensor.empty(%22) : tensor<?x1x40xf32>
    %cast_5 = tensor.cast %reshape : tensor<?x?x40xf32> to tensor<?x1x40xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_5 : tensor<?x1x40xf32>) outs(%23 : tensor<?x1x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.divf %in, %cst_2 : f32
      %37 = math.erf %36 : f32
      %38 = arith.addf %37, %cst_0 : f32
      %39 = arith.mulf %38, %cst_1 : f32
      %40 = arith.mulf %in, %39 : f32
      linalg.yield %40 : f32
    } -> tensor<?x1x40xf32>
    %collapsed_6 = tensor.collapse_shape %24 [[0], [1, 2]] : tensor<?x1x40xf32> into tensor<?x40xf32>
    %25 = tensor.empty() : tensor<40x24xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<24x40xf32>) outs(%25 : tensor<40x24xf32>) permutation = [1, 0] 
    %26 = arith.index_cast %20 : i64 to index
    %27 = tensor.empty(%26) : tensor<?x24xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %29 = linalg.matmul ins(%collapsed_6, %transposed_7 : tensor<?x40xf32>, tensor<40x24xf32>) outs(%28 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%29, %arg4 : tensor<?x24xf32>, tensor<24xf32>) outs(%27 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %36 = arith.addf %in, %in_10 : f32
      linalg.yield %36 : f32
    } -> tensor<?x24xf32>
    %31 = arith.muli %13, %c24_i64 : i64
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %32 = arith.muli %20, %c24_i64 : i64
    %33 = arith.divsi %32, %31 : i64
    %34 = arith.select %7, %33, %0 : i64
    %35 = arith.select %12, %33, %1 : i64
    %from_elements_8 = tensor.from_elements %34, %35, %c24_i64 : tensor<3xi64>
    %reshape_9 = tensor.reshape %30(%from_elements_8) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    return %reshape_9 : tensor<?x?x24xf32>
  }
}
