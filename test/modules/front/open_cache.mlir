// open_cache: f32 2x3x4x8, f32 2x3x4x8, f32 2x3x4x8, f32 2x3x6x8, f32 2x3x6x8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<()[s0, s1] -> (s0 + s1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1) -> (0, d1)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<2x3x?x8xf32>, %arg1: tensor<2x3x?x8xf32>, %arg2: tensor<2x3x?x8xf32>, %arg3: tensor<2x3x?x8xf32>, %arg4: tensor<2x3x?x8xf32>) -> (tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3_i64 = arith.constant 3 : i64
    %c6_i64 = arith.constant 6 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant 2.500000e-01 : f32
    %dim = tensor.dim %arg1, %c2 : tensor<2x3x?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_3 = tensor.dim %arg3, %c2 : tensor<2x3x?x8xf32>
    %1 = arith.index_cast %dim_3 : index to i64
    %concat = tensor.concat dim(2) %arg3, %arg1 : (tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32>
    %2 = arith.addi %0, %1 : i64
    %concat_4 = tensor.concat dim(2) %arg4, %arg2 : (tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) -> tensor<2x3x?x8xf32>
    %3 = tensor.empty(%dim) : tensor<?xi64>
    %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%3 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %64 = linalg.index 0 : index
      %65 = arith.index_cast %64 : index to i64
      linalg.yield %65 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %4 [[0, 1]] output_shape [%dim, 1] : tensor<?xi64> into tensor<?x1xi64>
    %5 = tensor.empty(%dim) : tensor<?x1xi64>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<?x1xi64>) outs(%5 : tensor<?x1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %64 = arith.addi %in, %1 : i64
      linalg.yield %64 : i64
    } -> tensor<?x1xi64>
    %7 = affine.apply #map2()[%dim_3, %dim]
    %8 = tensor.empty(%7) : tensor<2x3x8x?xf32>
    %transposed = linalg.transpose ins(%concat : tensor<2x3x?x8xf32>) outs(%8 : tensor<2x3x8x?xf32>) permutation = [0, 1, 3, 2] 
    %9 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %9, "unimplemented: dynamic negative broadcast sizes"
    %10 = tensor.empty(%dim) : tensor<2x3x?x8xf32>
    %11 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%10 : tensor<2x3x?x8xf32>) {
    ^bb0(%out: f32):
      %64 = linalg.index 0 : index
      %65 = linalg.index 1 : index
      %66 = linalg.index 2 : index
      %67 = linalg.index 3 : index
      %dim_12 = tensor.dim %arg0, %c2 : tensor<2x3x?x8xf32>
      %68 = arith.cmpi eq, %dim_12, %c1 : index
      %69 = arith.select %68, %c0, %66 : index
      %extracted = tensor.extract %arg0[%64, %65, %69, %67] : tensor<2x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x8xf32>
    %collapsed = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<2x3x?x8xf32> into tensor<6x?x8xf32>
    %12 = arith.index_cast %2 : i64 to index
    %13 = arith.cmpi sge, %2, %c0_i64 : i64
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    %14 = tensor.empty(%12) : tensor<2x3x8x?xf32>
    %15 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%14 : tensor<2x3x8x?xf32>) {
    ^bb0(%out: f32):
      %64 = linalg.index 0 : index
      %65 = linalg.index 1 : index
      %66 = linalg.index 2 : index
      %67 = linalg.index 3 : index
      %68 = arith.cmpi eq, %7, %c1 : index
      %69 = arith.select %68, %c0, %67 : index
      %extracted = tensor.extract %transposed[%64, %65, %66, %69] : tensor<2x3x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x8x?xf32>
    %collapsed_5 = tensor.collapse_shape %15 [[0, 1], [2], [3]] : tensor<2x3x8x?xf32> into tensor<6x8x?xf32>
    %16 = tensor.empty(%dim, %12) : tensor<6x?x?xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %18 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<6x?x8xf32>, tensor<6x8x?xf32>) outs(%17 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %19 = arith.muli %0, %c6_i64 : i64
    %20 = arith.cmpi slt, %0, %c0_i64 : i64
    %21 = arith.select %20, %c6_i64, %19 : i64
    %22 = arith.extui %20 : i1 to i64
    %23 = arith.muli %21, %2 : i64
    %24 = arith.addi %22, %c1_i64 : i64
    %25 = arith.cmpi slt, %2, %c0_i64 : i64
    %26 = arith.select %25, %21, %23 : i64
    %27 = arith.select %25, %24, %22 : i64
    %28 = arith.cmpi sle, %27, %c1_i64 : i64
    cf.assert %28, "must have at most one inferred (negative) dimension"
    %29 = arith.muli %19, %2 : i64
    %30 = arith.divsi %29, %26 : i64
    %31 = arith.select %20, %30, %0 : i64
    %32 = arith.select %25, %30, %2 : i64
    %from_elements = tensor.from_elements %c2_i64, %c3_i64, %31, %32 : tensor<4xi64>
    %reshape = tensor.reshape %18(%from_elements) : (tensor<6x?x?xf32>, tensor<4xi64>) -> tensor<2x3x?x?xf32>
    %33 = arith.index_cast %31 : i64 to index
    %34 = arith.index_cast %32 : i64 to index
    %35 = tensor.empty(%33, %34) : tensor<2x3x?x?xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<2x3x?x?xf32>) outs(%35 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.mulf %in, %cst_2 : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x?xf32>
    %37 = tensor.empty(%12) : tensor<?xi64>
    %38 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%37 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %64 = linalg.index 0 : index
      %65 = arith.index_cast %64 : index to i64
      linalg.yield %65 : i64
    } -> tensor<?xi64>
    %expanded_6 = tensor.expand_shape %38 [[0, 1]] output_shape [1, %12] : tensor<?xi64> into tensor<1x?xi64>
    %39 = tensor.empty(%dim, %12) : tensor<?x?xi1>
    %40 = linalg.generic {indexing_maps = [#map4, #map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded_6, %6 : tensor<1x?xi64>, tensor<?x1xi64>) outs(%39 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %in_12: i64, %out: i1):
      %64 = arith.cmpi sgt, %in, %in_12 : i64
      linalg.yield %64 : i1
    } -> tensor<?x?xi1>
    %41 = arith.cmpi eq, %dim, %33 : index
    cf.assert %41, "mismatched size for broadcast"
    %42 = arith.cmpi eq, %12, %34 : index
    cf.assert %42, "mismatched size for broadcast"
    %43 = tensor.empty(%dim, %12) : tensor<2x3x?x?xf32>
    %44 = linalg.generic {indexing_maps = [#map6, #map7, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40, %cst_1, %36 : tensor<?x?xi1>, tensor<f32>, tensor<2x3x?x?xf32>) outs(%43 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: i1, %in_12: f32, %in_13: f32, %out: f32):
      %64 = arith.select %in, %in_12, %in_13 : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x?xf32>
    %45 = tensor.empty(%dim) : tensor<2x3x?xi64>
    %46 = linalg.fill ins(%c0_i64 : i64) outs(%45 : tensor<2x3x?xi64>) -> tensor<2x3x?xi64>
    %47 = tensor.empty(%dim) : tensor<2x3x?xf32>
    %48 = linalg.fill ins(%cst_0 : f32) outs(%47 : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
    %49:2 = linalg.generic {indexing_maps = [#map3, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44 : tensor<2x3x?x?xf32>) outs(%48, %46 : tensor<2x3x?xf32>, tensor<2x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_12: i64):
      %64 = linalg.index 3 : index
      %65 = arith.index_cast %64 : index to i64
      %66 = arith.maximumf %in, %out : f32
      %67 = arith.cmpf ogt, %in, %out : f32
      %68 = arith.select %67, %65, %out_12 : i64
      linalg.yield %66, %68 : f32, i64
    } -> (tensor<2x3x?xf32>, tensor<2x3x?xi64>)
    %expanded_7 = tensor.expand_shape %49#0 [[0], [1], [2, 3]] output_shape [2, 3, %dim, 1] : tensor<2x3x?xf32> into tensor<2x3x?x1xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %expanded_7 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%43 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %64 = arith.subf %in, %in_12 : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x?xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<2x3x?x?xf32>) outs(%43 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x?xf32>
    %52 = tensor.empty(%dim) : tensor<2x3x?x1xf32>
    %53 = linalg.fill ins(%cst : f32) outs(%52 : tensor<2x3x?x1xf32>) -> tensor<2x3x?x1xf32>
    %54 = linalg.generic {indexing_maps = [#map3, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%51 : tensor<2x3x?x?xf32>) outs(%53 : tensor<2x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %in, %out : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x1xf32>
    %55 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %54 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%43 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %64 = arith.divf %in, %in_12 : f32
      linalg.yield %64 : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %9, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    %56 = tensor.empty(%dim, %12) : tensor<2x3x?x?xf32>
    %57 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%56 : tensor<2x3x?x?xf32>) {
    ^bb0(%out: f32):
      %64 = linalg.index 0 : index
      %65 = linalg.index 1 : index
      %66 = linalg.index 2 : index
      %67 = linalg.index 3 : index
      %68 = arith.cmpi eq, %dim, %c1 : index
      %69 = arith.select %68, %c0, %66 : index
      %70 = arith.cmpi eq, %12, %c1 : index
      %71 = arith.select %70, %c0, %67 : index
      %extracted = tensor.extract %55[%64, %65, %69, %71] : tensor<2x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %28, "must have at most one inferred (negative) dimension"
    %from_elements_8 = tensor.from_elements %c6_i64, %31, %32 : tensor<3xi64>
    %reshape_9 = tensor.reshape %57(%from_elements_8) : (tensor<2x3x?x?xf32>, tensor<3xi64>) -> tensor<6x?x?xf32>
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    %58 = tensor.empty(%12) : tensor<2x3x?x8xf32>
    %59 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%58 : tensor<2x3x?x8xf32>) {
    ^bb0(%out: f32):
      %64 = linalg.index 0 : index
      %65 = linalg.index 1 : index
      %66 = linalg.index 2 : index
      %67 = linalg.index 3 : index
      %dim_12 = tensor.dim %arg4, %c2 : tensor<2x3x?x8xf32>
      %dim_13 = tensor.dim %arg2, %c2 : tensor<2x3x?x8xf32>
      %68 = affine.apply #map2()[%dim_12, %dim_13]
      %69 = arith.cmpi eq, %68, %c1 : index
      %70 = arith.select %69, %c0, %66 : index
      %extracted = tensor.extract %concat_4[%64, %65, %70, %67] : tensor<2x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x8xf32>
    %collapsed_10 = tensor.collapse_shape %59 [[0, 1], [2], [3]] : tensor<2x3x?x8xf32> into tensor<6x?x8xf32>
    %60 = arith.cmpi eq, %32, %2 : i64
    cf.assert %60, "mismatching contracting dimension"
    %61 = tensor.empty(%33) : tensor<6x?x8xf32>
    %62 = linalg.fill ins(%cst : f32) outs(%61 : tensor<6x?x8xf32>) -> tensor<6x?x8xf32>
    %63 = linalg.batch_matmul ins(%reshape_9, %collapsed_10 : tensor<6x?x?xf32>, tensor<6x?x8xf32>) outs(%62 : tensor<6x?x8xf32>) -> tensor<6x?x8xf32>
    %expanded_11 = tensor.expand_shape %63 [[0, 1], [2], [3]] output_shape [2, 3, %33, 8] : tensor<6x?x8xf32> into tensor<2x3x?x8xf32>
    return %expanded_11, %concat, %concat_4 : tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>
  }
}
