// open_sliced_norm: f32 2x5x24, f32 16, f32 16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<16xf32>, %arg2: tensor<16xf32>) -> tensor<?x?x16xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f64
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 1.600000e+01 : f64
    %cst_3 = arith.constant 1.600000e+01 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.minsi %0, %c0_i64 : i64
    %2 = arith.index_cast %1 : i64 to index
    %3 = arith.addi %dim, %c-1 : index
    %4 = arith.cmpi slt, %3, %c0 : index
    %5 = arith.select %4, %c-1, %3 : index
    %6 = arith.minsi %5, %dim : index
    %dim_4 = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %7 = arith.subi %6, %2 : index
    %8 = arith.maxsi %7, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %2, 0] [%dim_4, %8, 24] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x24xf32>
    %extracted_slice_5 = tensor.extract_slice %extracted_slice[0, 0, 8] [%dim_4, %8, 16] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x16xf32>
    %9 = tensor.empty(%dim_4, %8) : tensor<?x?x16xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_5 : tensor<?x?x16xf32>) outs(%9 : tensor<?x?x16xf64>) {
    ^bb0(%in: f32, %out: f64):
      %31 = arith.extf %in : f32 to f64
      linalg.yield %31 : f64
    } -> tensor<?x?x16xf64>
    %11 = tensor.empty(%dim_4, %8) : tensor<?x?x1xf64>
    %12 = linalg.fill ins(%cst_0 : f64) outs(%11 : tensor<?x?x1xf64>) -> tensor<?x?x1xf64>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<?x?x16xf64>) outs(%12 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %31 = arith.addf %in, %out : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x1xf64>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<?x?x1xf64>) outs(%11 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %31 = arith.divf %in, %cst_2 : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x1xf64>
    %15 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %14 : tensor<?x?x16xf64>, tensor<?x?x1xf64>) outs(%9 : tensor<?x?x16xf64>) {
    ^bb0(%in: f64, %in_6: f64, %out: f64):
      %31 = arith.subf %in, %in_6 : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x16xf64>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %15 : tensor<?x?x16xf64>, tensor<?x?x16xf64>) outs(%9 : tensor<?x?x16xf64>) {
    ^bb0(%in: f64, %in_6: f64, %out: f64):
      %31 = arith.mulf %in, %in_6 : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x16xf64>
    %17 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%16 : tensor<?x?x16xf64>) outs(%12 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %31 = arith.addf %in, %out : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x1xf64>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<?x?x1xf64>) outs(%11 : tensor<?x?x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %31 = arith.divf %in, %cst_2 : f64
      linalg.yield %31 : f64
    } -> tensor<?x?x1xf64>
    %19 = tensor.empty(%dim_4, %8) : tensor<?x?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<?x?x1xf64>) outs(%19 : tensor<?x?x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %31 = arith.truncf %in : f64 to f32
      linalg.yield %31 : f32
    } -> tensor<?x?x1xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%19 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%extracted_slice_5 : tensor<?x?x16xf32>) outs(%21 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.addf %in, %out : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<?x?x1xf32>) outs(%19 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.divf %in, %cst_3 : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<?x?x1xf32>) outs(%19 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.truncf %cst_1 : f64 to f32
      %32 = arith.addf %in, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<?x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<?x?x1xf32>) outs(%19 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = math.rsqrt %in : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x1xf32>
    %26 = tensor.empty(%dim_4, %8) : tensor<?x?x16xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_5, %23 : tensor<?x?x16xf32>, tensor<?x?x1xf32>) outs(%26 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %31 = arith.subf %in, %in_6 : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x16xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %25 : tensor<?x?x16xf32>, tensor<?x?x1xf32>) outs(%26 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %31 = arith.mulf %in, %in_6 : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x16xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %arg1 : tensor<?x?x16xf32>, tensor<16xf32>) outs(%26 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %31 = arith.mulf %in, %in_6 : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x16xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %arg2 : tensor<?x?x16xf32>, tensor<16xf32>) outs(%26 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %31 = arith.addf %in, %in_6 : f32
      linalg.yield %31 : f32
    } -> tensor<?x?x16xf32>
    return %30 : tensor<?x?x16xf32>
  }
}
