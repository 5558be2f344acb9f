// open_instance_norm: f32 2x4x7
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @main(%arg0: tensor<2x4x?xf32>) -> tensor<2x4x?xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c2 = arith.constant 2 : index
    %cst_0 = arith.constant 0.000000e+00 : f64
    %cst_1 = arith.constant 1.000000e-05 : f64
    %0 = tensor.empty() : tensor<2x4x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x4x?xf32>) outs(%1 : tensor<2x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.addf %in, %out : f32
      linalg.yield %21 : f32
    } -> tensor<2x4x1xf32>
    %dim = tensor.dim %arg0, %c2 : tensor<2x4x?xf32>
    %3 = arith.index_cast %dim : index to i64
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<2x4x1xf32>) outs(%0 : tensor<2x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.sitofp %3 : i64 to f32
      %22 = arith.divf %in, %21 : f32
      linalg.yield %22 : f32
    } -> tensor<2x4x1xf32>
    %5 = tensor.empty(%dim) : tensor<2x4x?xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %4 : tensor<2x4x?xf32>, tensor<2x4x1xf32>) outs(%5 : tensor<2x4x?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %21 = arith.subf %in, %in_2 : f32
      linalg.yield %21 : f32
    } -> tensor<2x4x?xf32>
    %7 = tensor.empty(%dim) : tensor<2x4x?xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x4x?xf32>) outs(%7 : tensor<2x4x?xf64>) {
    ^bb0(%in: f32, %out: f64):
      %21 = arith.extf %in : f32 to f64
      linalg.yield %21 : f64
    } -> tensor<2x4x?xf64>
    %9 = tensor.empty() : tensor<2x4x1xf64>
    %10 = linalg.fill ins(%cst_0 : f64) outs(%9 : tensor<2x4x1xf64>) -> tensor<2x4x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<2x4x?xf64>) outs(%10 : tensor<2x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %21 = arith.addf %in, %out : f64
      linalg.yield %21 : f64
    } -> tensor<2x4x1xf64>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<2x4x1xf64>) outs(%9 : tensor<2x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %21 = arith.sitofp %3 : i64 to f64
      %22 = arith.divf %in, %21 : f64
      linalg.yield %22 : f64
    } -> tensor<2x4x1xf64>
    %13 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %12 : tensor<2x4x?xf64>, tensor<2x4x1xf64>) outs(%7 : tensor<2x4x?xf64>) {
    ^bb0(%in: f64, %in_2: f64, %out: f64):
      %21 = arith.subf %in, %in_2 : f64
      linalg.yield %21 : f64
    } -> tensor<2x4x?xf64>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %13 : tensor<2x4x?xf64>, tensor<2x4x?xf64>) outs(%7 : tensor<2x4x?xf64>) {
    ^bb0(%in: f64, %in_2: f64, %out: f64):
      %21 = arith.mulf %in, %in_2 : f64
      linalg.yield %21 : f64
    } -> tensor<2x4x?xf64>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<2x4x?xf64>) outs(%10 : tensor<2x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %21 = arith.addf %in, %out : f64
      linalg.yield %21 : f64
    } -> tensor<2x4x1xf64>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<2x4x1xf64>) outs(%9 : tensor<2x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %21 = arith.sitofp %3 : i64 to f64
      %22 = arith.divf %in, %21 : f64
      linalg.yield %22 : f64
    } -> tensor<2x4x1xf64>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<2x4x1xf64>) outs(%0 : tensor<2x4x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %21 = arith.truncf %in : f64 to f32
      linalg.yield %21 : f32
    } -> tensor<2x4x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x4x1xf32>) outs(%0 : tensor<2x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.truncf %cst_1 : f64 to f32
      %22 = arith.addf %in, %21 : f32
      linalg.yield %22 : f32
    } -> tensor<2x4x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<2x4x1xf32>) outs(%0 : tensor<2x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = math.rsqrt %in : f32
      linalg.yield %21 : f32
    } -> tensor<2x4x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %19 : tensor<2x4x?xf32>, tensor<2x4x1xf32>) outs(%5 : tensor<2x4x?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %21 = arith.mulf %in, %in_2 : f32
      linalg.yield %21 : f32
    } -> tensor<2x4x?xf32>
    return %20 : tensor<2x4x?xf32>
  }
}
