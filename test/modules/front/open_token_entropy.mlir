// open_token_entropy: f32 2x11x5, i64<11 2x5
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map3 = affine_map<(d0, d1, d2) -> ()>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<() -> ()>
module {
  func.func @main(%arg0: tensor<?x11x?xf32>, %arg1: tensor<?x?xi64>) -> tensor<f32> {
    %c-100_i64 = arith.constant -100 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0xFF800000 : f32
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c11_i64 = arith.constant 11 : i64
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<0> : tensor<i64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x11x?xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_3 = tensor.dim %arg0, %c2 : tensor<?x11x?xf32>
    %1 = tensor.empty(%dim, %dim_3) : tensor<?x?xi64>
    %2 = linalg.fill ins(%c0_i64 : i64) outs(%1 : tensor<?x?xi64>) -> tensor<?x?xi64>
    %3 = tensor.empty(%dim, %dim_3) : tensor<?x?xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %5:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0 : tensor<?x11x?xf32>) outs(%4, %2 : tensor<?x?xf32>, tensor<?x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_9: i64):
      %50 = linalg.index 1 : index
      %51 = arith.index_cast %50 : index to i64
      %52 = arith.maximumf %in, %out : f32
      %53 = arith.cmpf ogt, %in, %out : f32
      %54 = arith.select %53, %51, %out_9 : i64
      linalg.yield %52, %54 : f32, i64
    } -> (tensor<?x?xf32>, tensor<?x?xi64>)
    %expanded = tensor.expand_shape %5#0 [[0, 1], [2]] output_shape [%dim, 1, %dim_3] : tensor<?x?xf32> into tensor<?x1x?xf32>
    %6 = tensor.empty(%dim, %dim_3) : tensor<?x11x?xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded : tensor<?x11x?xf32>, tensor<?x1x?xf32>) outs(%6 : tensor<?x11x?xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.subf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<?x11x?xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<?x11x?xf32>) outs(%6 : tensor<?x11x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = math.exp %in : f32
      linalg.yield %50 : f32
    } -> tensor<?x11x?xf32>
    %9 = tensor.empty(%dim, %dim_3) : tensor<?x1x?xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<?x1x?xf32>) -> tensor<?x1x?xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction", "parallel"]} ins(%8 : tensor<?x11x?xf32>) outs(%10 : tensor<?x1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = arith.addf %in, %out : f32
      linalg.yield %50 : f32
    } -> tensor<?x1x?xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<?x1x?xf32>) outs(%9 : tensor<?x1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = math.log %in : f32
      linalg.yield %50 : f32
    } -> tensor<?x1x?xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %12 : tensor<?x11x?xf32>, tensor<?x1x?xf32>) outs(%6 : tensor<?x11x?xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.subf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<?x11x?xf32>
    %14 = arith.cmpi slt, %0, %c0_i64 : i64
    %15 = arith.select %14, %c1_i64, %0 : i64
    %16 = arith.extui %14 : i1 to i64
    %17 = arith.muli %15, %c11_i64 : i64
    %18 = arith.addi %16, %c1_i64 : i64
    %19 = arith.cmpi sle, %18, %c1_i64 : i64
    cf.assert %19, "must have at most one inferred (negative) dimension"
    %20 = arith.muli %0, %c11_i64 : i64
    %21 = arith.index_cast %dim_3 : index to i64
    %22 = arith.muli %20, %21 : i64
    %23 = arith.divsi %22, %17 : i64
    %24 = arith.select %14, %23, %0 : i64
    %from_elements = tensor.from_elements %24, %c11_i64, %c1_i64, %23 : tensor<4xi64>
    %reshape = tensor.reshape %13(%from_elements) : (tensor<?x11x?xf32>, tensor<4xi64>) -> tensor<?x11x1x?xf32>
    cf.assert %19, "must have at most one inferred (negative) dimension"
    %dim_4 = tensor.dim %arg1, %c0 : tensor<?x?xi64>
    %25 = arith.index_cast %dim_4 : index to i64
    %dim_5 = tensor.dim %arg1, %c1 : tensor<?x?xi64>
    %26 = arith.index_cast %dim_5 : index to i64
    %27 = arith.muli %25, %26 : i64
    %28 = arith.divsi %27, %15 : i64
    %29 = arith.select %14, %28, %0 : i64
    %from_elements_6 = tensor.from_elements %29, %c1_i64, %28 : tensor<3xi64>
    %reshape_7 = tensor.reshape %arg1(%from_elements_6) : (tensor<?x?xi64>, tensor<3xi64>) -> tensor<?x1x?xi64>
    %30 = arith.index_cast %29 : i64 to index
    %31 = arith.index_cast %28 : i64 to index
    %32 = tensor.empty(%30, %31) : tensor<?x1x?xi1>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_7 : tensor<?x1x?xi64>) outs(%32 : tensor<?x1x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %50 = arith.cmpi ne, %in, %c-100_i64 : i64
      linalg.yield %50 : i1
    } -> tensor<?x1x?xi1>
    %34 = tensor.empty(%30, %31) : tensor<?x1x?xi64>
    %35 = linalg.generic {indexing_maps = [#map, #map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %reshape_7, %cst_2 : tensor<?x1x?xi1>, tensor<?x1x?xi64>, tensor<i64>) outs(%34 : tensor<?x1x?xi64>) {
    ^bb0(%in: i1, %in_9: i64, %in_10: i64, %out: i64):
      %50 = arith.select %in, %in_9, %in_10 : i64
      linalg.yield %50 : i64
    } -> tensor<?x1x?xi64>
    %expanded_8 = tensor.expand_shape %35 [[0], [1, 2], [3]] output_shape [%30, 1, 1, %31] : tensor<?x1x?xi64> into tensor<?x1x1x?xi64>
    %36 = tensor.empty(%30, %31) : tensor<?x1x1x?xf32>
    %37 = linalg.fill ins(%cst_0 : f32) outs(%36 : tensor<?x1x1x?xf32>) -> tensor<?x1x1x?xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<?x1x1x?xi64>) outs(%37 : tensor<?x1x1x?xf32>) {
    ^bb0(%in: i64, %out: f32):
      %50 = linalg.index 0 : index
      %51 = arith.index_cast %in : i64 to index
      %52 = linalg.index 3 : index
      %53 = arith.cmpi slt, %51, %c11 : index
      cf.assert %53, "index must be smaller than dim size"
      %54 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %54, "index must be larger or equal to 0"
      %extracted = tensor.extract %reshape[%50, %51, %c0, %52] : tensor<?x11x1x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x1x1x?xf32>
    %collapsed = tensor.collapse_shape %38 [[0, 1], [2], [3]] : tensor<?x1x1x?xf32> into tensor<?x1x?xf32>
    %39 = tensor.empty(%30, %31) : tensor<?x1x?xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<?x1x?xf32>) outs(%39 : tensor<?x1x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = arith.negf %in : f32
      linalg.yield %50 : f32
    } -> tensor<?x1x?xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %40, %cst_1 : tensor<?x1x?xi1>, tensor<?x1x?xf32>, tensor<f32>) outs(%39 : tensor<?x1x?xf32>) {
    ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
      %50 = arith.select %in, %in_9, %in_10 : f32
      linalg.yield %50 : f32
    } -> tensor<?x1x?xf32>
    %42 = tensor.empty() : tensor<i64>
    %43 = linalg.fill ins(%c0_i64 : i64) outs(%42 : tensor<i64>) -> tensor<i64>
    %44 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["reduction", "reduction", "reduction"]} ins(%33 : tensor<?x1x?xi1>) outs(%43 : tensor<i64>) {
    ^bb0(%in: i1, %out: i64):
      %50 = arith.extui %in : i1 to i64
      %51 = arith.addi %50, %out : i64
      linalg.yield %51 : i64
    } -> tensor<i64>
    %45 = tensor.empty() : tensor<f32>
    %46 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = []} ins(%44 : tensor<i64>) outs(%45 : tensor<f32>) {
    ^bb0(%in: i64, %out: f32):
      %50 = arith.sitofp %in : i64 to f32
      linalg.yield %50 : f32
    } -> tensor<f32>
    %47 = linalg.fill ins(%cst_0 : f32) outs(%45 : tensor<f32>) -> tensor<f32>
    %48 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["reduction", "reduction", "reduction"]} ins(%41 : tensor<?x1x?xf32>) outs(%47 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = arith.addf %in, %out : f32
      linalg.yield %50 : f32
    } -> tensor<f32>
    %49 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = []} ins(%48, %46 : tensor<f32>, tensor<f32>) outs(%45 : tensor<f32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.divf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<f32>
    return %49 : tensor<f32>
  }
}
