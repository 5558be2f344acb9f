// open_attention: f32 2x5x24, f32 24x24, f32 24x24, f32 24x24, f32 24x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<()[s0] -> (s0 * 2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<2x?x24xf32>, %arg1: tensor<24x24xf32>, %arg2: tensor<24x24xf32>, %arg3: tensor<24x24xf32>, %arg4: tensor<24x24xf32>) -> tensor<2x?x24xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c3_i64 = arith.constant 3 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c2_i64 = arith.constant 2 : i64
    %c6_i64 = arith.constant 6 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 3.500000e-01 : f64
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty() : tensor<24x24xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x24xf32> into tensor<?x24xf32>
    %2 = affine.apply #map()[%dim]
    %3 = tensor.empty(%2) : tensor<?x24xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %6 = arith.divsi %2, %c2 : index
    %expanded = tensor.expand_shape %5 [[0, 1], [2, 3]] output_shape [2, %6, 3, 8] : tensor<?x24xf32> into tensor<2x?x3x8xf32>
    %7 = tensor.empty(%6) : tensor<2x3x?x8xf32>
    %transposed_2 = linalg.transpose ins(%expanded : tensor<2x?x3x8xf32>) outs(%7 : tensor<2x3x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_3 = linalg.transpose ins(%arg2 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_3 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %expanded_4 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [2, %6, 3, 8] : tensor<?x24xf32> into tensor<2x?x3x8xf32>
    %transposed_5 = linalg.transpose ins(%arg3 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %9 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %expanded_6 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, %6, 3, 8] : tensor<?x24xf32> into tensor<2x?x3x8xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<2x?x3x8xf32>) outs(%7 : tensor<2x3x?x8xf32>) permutation = [0, 2, 1, 3] 
    %10 = tensor.empty(%6) : tensor<2x3x8x?xf32>
    %transposed_8 = linalg.transpose ins(%expanded_4 : tensor<2x?x3x8xf32>) outs(%10 : tensor<2x3x8x?xf32>) permutation = [0, 2, 3, 1] 
    %11 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %12 = tensor.empty(%dim) : tensor<2x3x?x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<2x3x?x8xf32>) {
    ^bb0(%out: f32):
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = arith.cmpi eq, %6, %c1 : index
      %63 = arith.select %62, %c0, %60 : index
      %extracted = tensor.extract %transposed_2[%58, %59, %63, %61] : tensor<2x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x8xf32>
    %collapsed_9 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x3x?x8xf32> into tensor<6x?x8xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %14 = tensor.empty(%dim) : tensor<2x3x8x?xf32>
    %15 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%14 : tensor<2x3x8x?xf32>) {
    ^bb0(%out: f32):
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = arith.cmpi eq, %6, %c1 : index
      %63 = arith.select %62, %c0, %61 : index
      %extracted = tensor.extract %transposed_8[%58, %59, %60, %63] : tensor<2x3x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x8x?xf32>
    %collapsed_10 = tensor.collapse_shape %15 [[0, 1], [2], [3]] : tensor<2x3x8x?xf32> into tensor<6x8x?xf32>
    %16 = tensor.empty(%dim, %dim) : tensor<6x?x?xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %18 = linalg.batch_matmul ins(%collapsed_9, %collapsed_10 : tensor<6x?x8xf32>, tensor<6x8x?xf32>) outs(%17 : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
    %19 = arith.muli %0, %c6_i64 : i64
    %20 = arith.cmpi slt, %0, %c0_i64 : i64
    %21 = arith.select %20, %c6_i64, %19 : i64
    %22 = arith.extui %20 : i1 to i64
    %23 = arith.muli %21, %0 : i64
    %24 = arith.addi %22, %c1_i64 : i64
    %25 = arith.select %20, %c6_i64, %23 : i64
    %26 = arith.select %20, %24, %22 : i64
    %27 = arith.cmpi sle, %26, %c1_i64 : i64
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %28 = arith.muli %19, %0 : i64
    %29 = arith.divsi %28, %25 : i64
    %30 = arith.select %20, %29, %0 : i64
    %from_elements = tensor.from_elements %c2_i64, %c3_i64, %30, %30 : tensor<4xi64>
    %reshape = tensor.reshape %18(%from_elements) : (tensor<6x?x?xf32>, tensor<4xi64>) -> tensor<2x3x?x?xf32>
    %31 = arith.index_cast %30 : i64 to index
    %32 = tensor.empty(%31, %31) : tensor<2x3x?x?xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<2x3x?x?xf32>) outs(%32 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.truncf %cst_1 : f64 to f32
      %59 = arith.mulf %in, %58 : f32
      linalg.yield %59 : f32
    } -> tensor<2x3x?x?xf32>
    %34 = tensor.empty(%31) : tensor<2x3x?xi64>
    %35 = linalg.fill ins(%c0_i64 : i64) outs(%34 : tensor<2x3x?xi64>) -> tensor<2x3x?xi64>
    %36 = tensor.empty(%31) : tensor<2x3x?xf32>
    %37 = linalg.fill ins(%cst_0 : f32) outs(%36 : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
    %38:2 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<2x3x?x?xf32>) outs(%37, %35 : tensor<2x3x?xf32>, tensor<2x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_20: i64):
      %58 = linalg.index 3 : index
      %59 = arith.index_cast %58 : index to i64
      %60 = arith.maximumf %in, %out : f32
      %61 = arith.cmpf ogt, %in, %out : f32
      %62 = arith.select %61, %59, %out_20 : i64
      linalg.yield %60, %62 : f32, i64
    } -> (tensor<2x3x?xf32>, tensor<2x3x?xi64>)
    %expanded_11 = tensor.expand_shape %38#0 [[0], [1], [2, 3]] output_shape [2, 3, %31, 1] : tensor<2x3x?xf32> into tensor<2x3x?x1xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %expanded_11 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%32 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %58 = arith.subf %in, %in_20 : f32
      linalg.yield %58 : f32
    } -> tensor<2x3x?x?xf32>
    %40 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x3x?x?xf32>) outs(%32 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = math.exp %in : f32
      linalg.yield %58 : f32
    } -> tensor<2x3x?x?xf32>
    %41 = tensor.empty(%31) : tensor<2x3x?x1xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<2x3x?x1xf32>) -> tensor<2x3x?x1xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%40 : tensor<2x3x?x?xf32>) outs(%42 : tensor<2x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.addf %in, %out : f32
      linalg.yield %58 : f32
    } -> tensor<2x3x?x1xf32>
    %44 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40, %43 : tensor<2x3x?x?xf32>, tensor<2x3x?x1xf32>) outs(%32 : tensor<2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %58 = arith.divf %in, %in_20 : f32
      linalg.yield %58 : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %45 = tensor.empty(%dim, %dim) : tensor<2x3x?x?xf32>
    %46 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%45 : tensor<2x3x?x?xf32>) {
    ^bb0(%out: f32):
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = arith.cmpi eq, %31, %c1 : index
      %63 = arith.select %62, %c0, %60 : index
      %64 = arith.select %62, %c0, %61 : index
      %extracted = tensor.extract %44[%58, %59, %63, %64] : tensor<2x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x?xf32>
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %from_elements_12 = tensor.from_elements %c6_i64, %30, %30 : tensor<3xi64>
    %reshape_13 = tensor.reshape %46(%from_elements_12) : (tensor<2x3x?x?xf32>, tensor<3xi64>) -> tensor<6x?x?xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %47 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<2x3x?x8xf32>) {
    ^bb0(%out: f32):
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = arith.cmpi eq, %6, %c1 : index
      %63 = arith.select %62, %c0, %60 : index
      %extracted = tensor.extract %transposed_7[%58, %59, %63, %61] : tensor<2x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x8xf32>
    %collapsed_14 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<2x3x?x8xf32> into tensor<6x?x8xf32>
    %48 = arith.cmpi eq, %30, %0 : i64
    cf.assert %48, "mismatching contracting dimension"
    %49 = tensor.empty(%31) : tensor<6x?x8xf32>
    %50 = linalg.fill ins(%cst : f32) outs(%49 : tensor<6x?x8xf32>) -> tensor<6x?x8xf32>
    %51 = linalg.batch_matmul ins(%reshape_13, %collapsed_14 : tensor<6x?x?xf32>, tensor<6x?x8xf32>) outs(%50 : tensor<6x?x8xf32>) -> tensor<6x?x8xf32>
    %expanded_15 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 3, %31, 8] : tensor<6x?x8xf32> into tensor<2x3x?x8xf32>
    %52 = tensor.empty(%31) : tensor<2x?x3x8xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<2x3x?x8xf32>) outs(%52 : tensor<2x?x3x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_17 = linalg.transpose ins(%arg4 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed_18 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<2x?x3x8xf32> into tensor<?x24xf32>
    %53 = affine.apply #map()[%31]
    %54 = tensor.empty(%53) : tensor<?x24xf32>
    %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %56 = linalg.matmul ins(%collapsed_18, %transposed_17 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%55 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %57 = arith.divsi %53, %c2 : index
    %expanded_19 = tensor.expand_shape %56 [[0, 1], [2]] output_shape [2, %57, 24] : tensor<?x24xf32> into tensor<2x?x24xf32>
    return %expanded_19 : tensor<2x?x24xf32>
  }
}
