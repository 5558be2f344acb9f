// open_norm_linear: f32 2x5x24, f32 24, f32 24, f32 40x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<40x24xf32>) -> tensor<?x?x40xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c40_i64 = arith.constant 40 : i64
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 2.400000e+01 : f64
    %cst_3 = arith.constant 2.400000e+01 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_4 = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %1 = arith.index_cast %dim_4 : index to i64
    %2 = tensor.empty(%dim, %dim_4) : tensor<?x?x24xf64>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<?x?x24xf32>) outs(%2 : tensor<?x?x24xf64>) {
    ^bb0(%in: f32, %out: f64):
      %43 = arith.extf %in : f32 to f64
      linalg.yield %43 : f64
    } -> tensor<?x?x24xf64>
    %4 = tensor.empty(%dim, %dim_4) : tensor<?x?x1xf64>
    %5 = linalg.fill ins(%cst : f64) outs(%4 : tensor<?x?x1xf64>) -> tensor<?x?x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3 : tensor<?x?x24xf64>) outs(%5 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %43 = arith.addf %in, %out : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<?x?x1xf64>) outs(%4 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %43 = arith.divf %in, %cst_2 : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %7 : tensor<?x?x24xf64>, tensor<?x?x1xf64>) outs(%2 : tensor<?x?x24xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %43 = arith.subf %in, %in_5 : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x24xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %8 : tensor<?x?x24xf64>, tensor<?x?x24xf64>) outs(%2 : tensor<?x?x24xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %43 = arith.mulf %in, %in_5 : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x24xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<?x?x24xf64>) outs(%5 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %43 = arith.addf %in, %out : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<?x?x1xf64>) outs(%4 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %43 = arith.divf %in, %cst_2 : f64
      linalg.yield %43 : f64
    } -> tensor<?x?x1xf64>
    %12 = tensor.empty(%dim, %dim_4) : tensor<?x?x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<?x?x1xf64>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %43 = arith.truncf %in : f64 to f32
      linalg.yield %43 : f32
    } -> tensor<?x?x1xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<?x?x24xf32>) outs(%14 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.addf %in, %out : f32
      linalg.yield %43 : f32
    } -> tensor<?x?x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<?x?x1xf32>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.divf %in, %cst_3 : f32
      linalg.yield %43 : f32
    } -> tensor<?x?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<?x?x1xf32>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.truncf %cst_1 : f64 to f32
      %44 = arith.addf %in, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<?x?x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<?x?x1xf32>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = math.rsqrt %in : f32
      linalg.yield %43 : f32
    } -> tensor<?x?x1xf32>
    %19 = tensor.empty(%dim, %dim_4) : tensor<?x?x24xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %16 : tensor<?x?x24xf32>, tensor<?x?x1xf32>) outs(%19 : tensor<?x?x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %43 = arith.subf %in, %in_5 : f32
      linalg.yield %43 : f32
    } -> tensor<?x?x24xf32>
    %21 = tensor.empty(%dim) : tensor<?x1x24xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %18 : tensor<?x?x24xf32>, tensor<?x?x1xf32>) outs(%21 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %43 = arith.mulf %in, %in_5 : f32
      linalg.yield %43 : f32
    } -> tensor<?x1x24xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %arg1 : tensor<?x1x24xf32>, tensor<24xf32>) outs(%21 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %43 = arith.mulf %in, %in_5 : f32
      linalg.yield %43 : f32
    } -> tensor<?x1x24xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %arg2 : tensor<?x1x24xf32>, tensor<24xf32>) outs(%21 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %43 = arith.addf %in, %in_5 : f32
      linalg.yield %43 : f32
    } -> tensor<?x1x24xf32>
    %25 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<40x24xf32>) outs(%25 : tensor<24x40xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %24 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %26 = tensor.empty(%dim) : tensor<?x40xf32>
    %27 = linalg.fill ins(%cst_0 : f32) outs(%26 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %28 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x40xf32>) outs(%27 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %29 = arith.cmpi slt, %0, %c0_i64 : i64
    %30 = arith.select %29, %c1_i64, %0 : i64
    %31 = arith.extui %29 : i1 to i64
    %32 = arith.muli %30, %1 : i64
    %33 = arith.addi %31, %c1_i64 : i64
    %34 = arith.cmpi slt, %1, %c0_i64 : i64
    %35 = arith.select %34, %30, %32 : i64
    %36 = arith.select %34, %33, %31 : i64
    %37 = arith.muli %35, %c40_i64 : i64
    %38 = arith.cmpi sle, %36, %c1_i64 : i64
    cf.assert %38, "must have at most one inferred (negative) dimension"
    %39 = arith.muli %0, %c40_i64 : i64
    %40 = arith.divsi %39, %37 : i64
    %41 = arith.select %29, %40, %0 : i64
    %42 = arith.select %34, %40, %1 : i64
    %from_elements = tensor.from_elements %41, %42, %c40_i64 : tensor<3xi64>
    %reshape = tensor.reshape %28(%from_elements) : (tensor<?x40xf32>, tensor<3xi64>) -> tensor<?x?x40xf32>
    return %reshape : tensor<?x?x40xf32>
  }
}
