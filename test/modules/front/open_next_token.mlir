// open_next_token: f32 3x6x11, i64<11 3x6
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<()[s0] -> (s0 * 3)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0) -> ()>
module {
  func.func @main(%arg0: tensor<3x?x11xf32>, %arg1: tensor<3x?xi64>) -> tensor<f32> {
    %c-100_i64 = arith.constant -100 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %c11 = arith.constant 11 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
    %c1_i64 = arith.constant 1 : i64
    %cst_2 = arith.constant dense<0> : tensor<i64>
    %dim = tensor.dim %arg0, %c1 : tensor<3x?x11xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.minsi %0, %c0_i64 : i64
    %2 = arith.index_cast %1 : i64 to index
    %3 = arith.addi %dim, %c-1 : index
    %4 = arith.cmpi slt, %3, %c0 : index
    %5 = arith.select %4, %c-1, %3 : index
    %6 = arith.minsi %5, %dim : index
    %7 = arith.subi %6, %2 : index
    %8 = arith.maxsi %7, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %2, 0] [3, %8, 11] [1, 1, 1] : tensor<3x?x11xf32> to tensor<3x?x11xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<3x?x11xf32> into tensor<?x11xf32>
    %dim_3 = tensor.dim %arg1, %c1 : tensor<3x?xi64>
    %9 = arith.index_cast %dim_3 : index to i64
    %10 = arith.minsi %9, %c1_i64 : i64
    %11 = arith.index_cast %10 : i64 to index
    %12 = arith.subi %dim_3, %11 : index
    %13 = arith.maxsi %12, %c0 : index
    %extracted_slice_4 = tensor.extract_slice %arg1[0, %11] [3, %13] [1, 1] : tensor<3x?xi64> to tensor<3x?xi64>
    %collapsed_5 = tensor.collapse_shape %extracted_slice_4 [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
    %14 = affine.apply #map()[%8]
    %15 = tensor.empty(%14) : tensor<?xi64>
    %16 = linalg.fill ins(%c0_i64 : i64) outs(%15 : tensor<?xi64>) -> tensor<?xi64>
    %17 = tensor.empty(%14) : tensor<?xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<?xf32>) -> tensor<?xf32>
    %19:2 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "reduction"]} ins(%collapsed : tensor<?x11xf32>) outs(%18, %16 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %42 = linalg.index 1 : index
      %43 = arith.index_cast %42 : index to i64
      %44 = arith.maximumf %in, %out : f32
      %45 = arith.cmpf ogt, %in, %out : f32
      %46 = arith.select %45, %43, %out_8 : i64
      linalg.yield %44, %46 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded = tensor.expand_shape %19#0 [[0, 1]] output_shape [%14, 1] : tensor<?xf32> into tensor<?x1xf32>
    %20 = tensor.empty(%14) : tensor<?x11xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %expanded : tensor<?x11xf32>, tensor<?x1xf32>) outs(%20 : tensor<?x11xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %42 = arith.subf %in, %in_8 : f32
      linalg.yield %42 : f32
    } -> tensor<?x11xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<?x11xf32>) outs(%20 : tensor<?x11xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = math.exp %in : f32
      linalg.yield %42 : f32
    } -> tensor<?x11xf32>
    %23 = tensor.empty(%14) : tensor<?x1xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "reduction"]} ins(%22 : tensor<?x11xf32>) outs(%24 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.addf %in, %out : f32
      linalg.yield %42 : f32
    } -> tensor<?x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<?x1xf32>) outs(%23 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = math.log %in : f32
      linalg.yield %42 : f32
    } -> tensor<?x1xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%21, %26 : tensor<?x11xf32>, tensor<?x1xf32>) outs(%20 : tensor<?x11xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %42 = arith.subf %in, %in_8 : f32
      linalg.yield %42 : f32
    } -> tensor<?x11xf32>
    %28 = affine.apply #map()[%13]
    %29 = tensor.empty(%28) : tensor<?xi1>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%collapsed_5 : tensor<?xi64>) outs(%29 : tensor<?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %42 = arith.cmpi ne, %in, %c-100_i64 : i64
      linalg.yield %42 : i1
    } -> tensor<?xi1>
    %31 = tensor.empty(%28) : tensor<?xi64>
    %32 = linalg.generic {indexing_maps = [#map4, #map4, #map5, #map4], iterator_types = ["parallel"]} ins(%30, %collapsed_5, %cst_2 : tensor<?xi1>, tensor<?xi64>, tensor<i64>) outs(%31 : tensor<?xi64>) {
    ^bb0(%in: i1, %in_8: i64, %in_9: i64, %out: i64):
      %42 = arith.select %in, %in_8, %in_9 : i64
      linalg.yield %42 : i64
    } -> tensor<?xi64>
    %expanded_6 = tensor.expand_shape %32 [[0, 1]] output_shape [%28, 1] : tensor<?xi64> into tensor<?x1xi64>
    %33 = tensor.empty(%28) : tensor<?x1xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded_6 : tensor<?x1xi64>) outs(%34 : tensor<?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %42 = linalg.index 0 : index
      %43 = arith.index_cast %in : i64 to index
      %44 = arith.cmpi slt, %43, %c11 : index
      cf.assert %44, "index must be smaller than dim size"
      %45 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %45, "index must be larger or equal to 0"
      %extracted = tensor.extract %27[%42, %43] : tensor<?x11xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x1xf32>
    %collapsed_7 = tensor.collapse_shape %35 [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
    %36 = tensor.empty(%28) : tensor<?xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%collapsed_7 : tensor<?xf32>) outs(%36 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.negf %in : f32
      linalg.yield %42 : f32
    } -> tensor<?xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4, #map5, #map4], iterator_types = ["parallel"]} ins(%30, %37, %cst_1 : tensor<?xi1>, tensor<?xf32>, tensor<f32>) outs(%36 : tensor<?xf32>) {
    ^bb0(%in: i1, %in_8: f32, %in_9: f32, %out: f32):
      %42 = arith.select %in, %in_8, %in_9 : f32
      linalg.yield %42 : f32
    } -> tensor<?xf32>
    %39 = tensor.empty() : tensor<f32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<f32>) -> tensor<f32>
    %41 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["reduction"]} ins(%38 : tensor<?xf32>) outs(%40 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.addf %in, %out : f32
      linalg.yield %42 : f32
    } -> tensor<f32>
    return %41 : tensor<f32>
  }
}
