// open_last_norm: f16 3x5x24, f16 24, f16 24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x?x24xf16>, %arg1: tensor<24xf16>, %arg2: tensor<24xf16>) -> tensor<?x24xf16> {
    %c-1_i64 = arith.constant -1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 2.400000e+01 : f64
    %cst_3 = arith.constant 2.400000e+01 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x24xf16>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.addi %0, %c-1_i64 : i64
    %2 = arith.addi %1, %0 : i64
    %3 = arith.cmpi sge, %1, %c0_i64 : i64
    %4 = arith.select %3, %1, %2 : i64
    %5 = arith.maxsi %4, %c0_i64 : i64
    %6 = arith.minsi %5, %0 : i64
    %7 = arith.index_cast %6 : i64 to index
    %dim_4 = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %extracted_slice = tensor.extract_slice %arg0[0, %7, 0] [%dim_4, 1, 24] [1, 1, 1] : tensor<?x?x24xf16> to tensor<?x1x24xf16>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<?x1x24xf16> into tensor<?x24xf16>
    %8 = tensor.empty(%dim_4) : tensor<?x24xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<?x24xf16>) outs(%8 : tensor<?x24xf32>) {
    ^bb0(%in: f16, %out: f32):
      %33 = arith.extf %in : f16 to f32
      linalg.yield %33 : f32
    } -> tensor<?x24xf32>
    %10 = tensor.empty(%dim_4) : tensor<?x24xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<?x24xf32>) outs(%10 : tensor<?x24xf64>) {
    ^bb0(%in: f32, %out: f64):
      %33 = arith.extf %in : f32 to f64
      linalg.yield %33 : f64
    } -> tensor<?x24xf64>
    %12 = tensor.empty(%dim_4) : tensor<?x1xf64>
    %13 = linalg.fill ins(%cst : f64) outs(%12 : tensor<?x1xf64>) -> tensor<?x1xf64>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%11 : tensor<?x24xf64>) outs(%13 : tensor<?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.addf %in, %out : f64
      linalg.yield %33 : f64
    } -> tensor<?x1xf64>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<?x1xf64>) outs(%12 : tensor<?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.divf %in, %cst_2 : f64
      linalg.yield %33 : f64
    } -> tensor<?x1xf64>
    %16 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%11, %15 : tensor<?x24xf64>, tensor<?x1xf64>) outs(%10 : tensor<?x24xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.subf %in, %in_5 : f64
      linalg.yield %33 : f64
    } -> tensor<?x24xf64>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %16 : tensor<?x24xf64>, tensor<?x24xf64>) outs(%10 : tensor<?x24xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.mulf %in, %in_5 : f64
      linalg.yield %33 : f64
    } -> tensor<?x24xf64>
    %18 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%17 : tensor<?x24xf64>) outs(%13 : tensor<?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.addf %in, %out : f64
      linalg.yield %33 : f64
    } -> tensor<?x1xf64>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<?x1xf64>) outs(%12 : tensor<?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.divf %in, %cst_2 : f64
      linalg.yield %33 : f64
    } -> tensor<?x1xf64>
    %20 = tensor.empty(%dim_4) : tensor<?x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<?x1xf64>) outs(%20 : tensor<?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %33 = arith.truncf %in : f64 to f32
      linalg.yield %33 : f32
    } -> tensor<?x1xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%20 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<?x24xf32>) outs(%22 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<?x1xf32>) outs(%20 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.divf %in, %cst_3 : f32
      linalg.yield %33 : f32
    } -> tensor<?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<?x1xf32>) outs(%20 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.truncf %cst_1 : f64 to f32
      %34 = arith.addf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<?x1xf32>) outs(%20 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = math.rsqrt %in : f32
      linalg.yield %33 : f32
    } -> tensor<?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %24 : tensor<?x24xf32>, tensor<?x1xf32>) outs(%8 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.subf %in, %in_5 : f32
      linalg.yield %33 : f32
    } -> tensor<?x24xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %26 : tensor<?x24xf32>, tensor<?x1xf32>) outs(%8 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.mulf %in, %in_5 : f32
      linalg.yield %33 : f32
    } -> tensor<?x24xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%28, %arg1 : tensor<?x24xf32>, tensor<24xf16>) outs(%8 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_5: f16, %out: f32):
      %33 = arith.extf %in_5 : f16 to f32
      %34 = arith.mulf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<?x24xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%29, %arg2 : tensor<?x24xf32>, tensor<24xf16>) outs(%8 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_5: f16, %out: f32):
      %33 = arith.extf %in_5 : f16 to f32
      %34 = arith.addf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<?x24xf32>
    %31 = tensor.empty(%dim_4) : tensor<?x24xf16>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<?x24xf32>) outs(%31 : tensor<?x24xf16>) {
    ^bb0(%in: f32, %out: f16):
      %33 = arith.truncf %in : f32 to f16
      linalg.yield %33 : f16
    } -> tensor<?x24xf16>
    return %32 : tensor<?x24xf16>
  }
}
