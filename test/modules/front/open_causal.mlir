// open_causal: f32 2x3x9x16, f32 2x3x9x16, f32 2x3x9x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> ()>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<2x3x?x16xf32>, %arg1: tensor<2x3x?x16xf32>, %arg2: tensor<2x3x?x16xf32>) -> tensor<2x3x?x16xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3_i64 = arith.constant 3 : i64
    %c6_i64 = arith.constant 6 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %true = arith.constant true
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant dense<true> : tensor<i1>
    %cst_3 = arith.constant 2.500000e-01 : f32
    %dim = tensor.dim %arg1, %c2 : tensor<2x3x?x16xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%2 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %4 = tensor.empty(%dim) : tensor<?xi64>
    %5 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%4 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %57 = linalg.index 0 : index
      %58 = arith.index_cast %57 : index to i64
      linalg.yield %58 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %5 [[0, 1]] output_shape [1, %dim] : tensor<?xi64> into tensor<1x?xi64>
    %expanded_4 = tensor.expand_shape %5 [[0, 1]] output_shape [%dim, 1] : tensor<?xi64> into tensor<?x1xi64>
    %6 = tensor.empty(%dim, %dim) : tensor<?x?xi64>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_4 : tensor<1x?xi64>, tensor<?x1xi64>) outs(%6 : tensor<?x?xi64>) {
    ^bb0(%in: i64, %in_11: i64, %out: i64):
      %57 = arith.subi %in, %in_11 : i64
      linalg.yield %57 : i64
    } -> tensor<?x?xi64>
    %8 = tensor.empty(%dim, %dim) : tensor<?x?xi1>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<?x?xi64>) outs(%8 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %57 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %57 : i1
    } -> tensor<?x?xi1>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %10 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %3 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%8 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_11: i1, %out: i1):
      %57 = arith.andi %in, %in_11 : i1
      linalg.yield %57 : i1
    } -> tensor<?x?xi1>
    %11 = tensor.empty(%dim) : tensor<2x3x16x?xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x3x?x16xf32>) outs(%11 : tensor<2x3x16x?xf32>) permutation = [0, 1, 3, 2] 
    %12 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %13 = tensor.empty(%dim) : tensor<2x3x?x16xf32>
    %14 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%13 : tensor<2x3x?x16xf32>) {
    ^bb0(%out: f32):
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %dim_11 = tensor.dim %arg0, %c2 : tensor<2x3x?x16xf32>
      %61 = arith.cmpi eq, %dim_11, %c1 : index
      %62 = arith.select %61, %c0, %59 : index
      %extracted = tensor.extract %arg0[%57, %58, %62, %60] : tensor<2x3x?x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x16xf32>
    %collapsed = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x3x?x16xf32> into tensor<6x?x16xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %15 = tensor.empty(%dim) : tensor<2x3x16x?xf32>
    %16 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%15 : tensor<2x3x16x?xf32>) {
    ^bb0(%out: f32):
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %61 = arith.cmpi eq, %dim, %c1 : index
      %62 = arith.select %61, %c0, %60 : index
      %extracted = tensor.extract %transposed[%57, %58, %59, %62] : tensor<2x3x16x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x16x?xf32>
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x3x16x?xf32> into tensor<6x16x?xf32>
    %17 = tensor.empty(%dim, %dim) : tensor<6x?x?xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %19 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<6x?x16xf32>, tensor<6x16x?xf32>) outs(%18 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %20 = arith.muli %0, %c6_i64 : i64
    %21 = arith.cmpi slt, %0, %c0_i64 : i64
    %22 = arith.select %21, %c6_i64, %20 : i64
    %23 = arith.extui %21 : i1 to i64
    %24 = arith.muli %22, %0 : i64
    %25 = arith.addi %23, %c1_i64 : i64
    %26 = arith.select %21, %c6_i64, %24 : i64
    %27 = arith.select %21, %25, %23 : i64
    %28 = arith.cmpi sle, %27, %c1_i64 : i64
    cf.assert %28, "must have at most one inferred (negative) dimension"
    %29 = arith.muli %20, %0 : i64
    %30 = arith.divsi %29, %26 : i64
    %31 = arith.select %21, %30, %0 : i64
    %from_elements = tensor.from_elements %c2_i64, %c3_i64, %31, %31 : tensor<4xi64>
    %reshape = tensor.reshape %19(%from_elements) : (tensor<6x?x?xf32>, tensor<4xi64>) -> tensor<2x3x?x?xf32>
    %32 = arith.index_cast %31 : i64 to index
    %33 = tensor.empty(%32, %32) : tensor<2x3x?x?xf32>
    %34 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<2x3x?x?xf32>) outs(%33 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.mulf %in, %cst_3 : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x?xf32>
    %35 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<?x?xi1>) outs(%8 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      %57 = arith.xori %in, %true : i1
      linalg.yield %57 : i1
    } -> tensor<?x?xi1>
    %36 = arith.cmpi eq, %dim, %32 : index
    cf.assert %36, "mismatched size for broadcast"
    cf.assert %36, "mismatched size for broadcast"
    %37 = tensor.empty(%dim, %dim) : tensor<2x3x?x?xf32>
    %38 = linalg.generic {indexing_maps = [#map6, #map7, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %cst_1, %34 : tensor<?x?xi1>, tensor<f32>, tensor<2x3x?x?xf32>) outs(%37 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %57 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x?xf32>
    %39 = tensor.empty(%dim) : tensor<2x3x?xi64>
    %40 = linalg.fill ins(%c0_i64 : i64) outs(%39 : tensor<2x3x?xi64>) -> tensor<2x3x?xi64>
    %41 = tensor.empty(%dim) : tensor<2x3x?xf32>
    %42 = linalg.fill ins(%cst_0 : f32) outs(%41 : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
    %43:2 = linalg.generic {indexing_maps = [#map5, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%38 : tensor<2x3x?x?xf32>) outs(%42, %40 : tensor<2x3x?xf32>, tensor<2x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %57 = linalg.index 3 : index
      %58 = arith.index_cast %57 : index to i64
      %59 = arith.maximumf %in, %out : f32
      %60 = arith.cmpf ogt, %in, %out : f32
      %61 = arith.select %60, %58, %out_11 : i64
      linalg.yield %59, %61 : f32, i64
    } -> (tensor<2x3x?xf32>, tensor<2x3x?xi64>)
    %expanded_6 = tensor.expand_shape %43#0 [[0], [1], [2, 3]] output_shape [2, 3, %dim, 1] : tensor<2x3x?xf32> into tensor<2x3x?x1xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %expanded_6 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%37 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %57 = arith.subf %in, %in_11 : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x?xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44 : tensor<2x3x?x?xf32>) outs(%37 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = math.exp %in : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x?xf32>
    %46 = tensor.empty(%dim) : tensor<2x3x?x1xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<2x3x?x1xf32>) -> tensor<2x3x?x1xf32>
    %48 = linalg.generic {indexing_maps = [#map5, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%45 : tensor<2x3x?x?xf32>) outs(%47 : tensor<2x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %57 = arith.addf %in, %out : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x1xf32>
    %49 = linalg.generic {indexing_maps = [#map5, #map9, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %48 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%37 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %57 = arith.divf %in, %in_11 : f32
      linalg.yield %57 : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %50 = tensor.empty(%dim, %dim) : tensor<2x3x?x?xf32>
    %51 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%50 : tensor<2x3x?x?xf32>) {
    ^bb0(%out: f32):
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %61 = arith.cmpi eq, %dim, %c1 : index
      %62 = arith.select %61, %c0, %59 : index
      %63 = arith.select %61, %c0, %60 : index
      %extracted = tensor.extract %49[%57, %58, %62, %63] : tensor<2x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %28, "must have at most one inferred (negative) dimension"
    %from_elements_7 = tensor.from_elements %c6_i64, %31, %31 : tensor<3xi64>
    %reshape_8 = tensor.reshape %51(%from_elements_7) : (tensor<2x3x?x?xf32>, tensor<3xi64>) -> tensor<6x?x?xf32>
    cf.assert %12, "unimplemented: dynamic negative broadcast sizes"
    %52 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%13 : tensor<2x3x?x16xf32>) {
    ^bb0(%out: f32):
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %dim_11 = tensor.dim %arg2, %c2 : tensor<2x3x?x16xf32>
      %61 = arith.cmpi eq, %dim_11, %c1 : index
      %62 = arith.select %61, %c0, %59 : index
      %extracted = tensor.extract %arg2[%57, %58, %62, %60] : tensor<2x3x?x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x16xf32>
    %collapsed_9 = tensor.collapse_shape %52 [[0, 1], [2], [3]] : tensor<2x3x?x16xf32> into tensor<6x?x16xf32>
    %53 = arith.cmpi eq, %31, %0 : i64
    cf.assert %53, "mismatching contracting dimension"
    %54 = tensor.empty(%32) : tensor<6x?x16xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<6x?x16xf32>) -> tensor<6x?x16xf32>
    %56 = linalg.batch_matmul ins(%reshape_8, %collapsed_9 : tensor<6x?x?xf32>, tensor<6x?x16xf32>) outs(%55 : tensor<6x?x16xf32>) -> tensor<6x?x16xf32>
    %expanded_10 = tensor.expand_shape %56 [[0, 1], [2], [3]] output_shape [2, 3, %32, 16] : tensor<6x?x16xf32> into tensor<2x3x?x16xf32>
    return %expanded_10 : tensor<2x3x?x16xf32>
  }
}
