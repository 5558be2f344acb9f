// open_experts: f32 2x5x8, f32 4x8, f32 4x8x12, f32 4x12x8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module {
  func.func @main(%arg0: tensor<?x?x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<4x8x12xf32>, %arg3: tensor<4x12x8xf32>) -> tensor<?x?x8xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8_i64 = arith.constant 8 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c4_i64 = arith.constant 4 : i64
    %c12_i64 = arith.constant 12 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %c48_i64 = arith.constant 48 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_2 = tensor.dim %arg0, %c1 : tensor<?x?x8xf32>
    %1 = arith.index_cast %dim_2 : index to i64
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [%dim, %dim_2, 8, 1, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1x1xf32>
    %expanded_3 = tensor.expand_shape %arg2 [[0], [1], [2, 3, 4]] output_shape [4, 8, 12, 1, 1] : tensor<4x8x12xf32> into tensor<4x8x12x1x1xf32>
    %2 = arith.cmpi eq, %0, %c1_i64 : i64
    cf.assert %2, "mismatching contracting dimension"
    %cast = tensor.cast %expanded : tensor<?x?x8x1x1xf32> to tensor<1x?x8x1x1xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1], [2, 3, 4]] : tensor<1x?x8x1x1xf32> into tensor<1x?x8xf32>
    %3 = tensor.empty() : tensor<8x4x12x1x1xf32>
    %transposed = linalg.transpose ins(%expanded_3 : tensor<4x8x12x1x1xf32>) outs(%3 : tensor<8x4x12x1x1xf32>) permutation = [1, 0, 2, 3, 4] 
    %collapsed_4 = tensor.collapse_shape %transposed [[0], [1, 2, 3, 4]] : tensor<8x4x12x1x1xf32> into tensor<8x48xf32>
    %expanded_5 = tensor.expand_shape %collapsed_4 [[0, 1], [2]] output_shape [1, 8, 48] : tensor<8x48xf32> into tensor<1x8x48xf32>
    %dim_6 = tensor.dim %expanded, %c1 : tensor<?x?x8x1x1xf32>
    %4 = tensor.empty(%dim_6) : tensor<1x?x48xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %expanded_5 : tensor<1x?x8xf32>, tensor<1x8x48xf32>) outs(%5 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %7 = arith.cmpi slt, %0, %c0_i64 : i64
    %8 = arith.select %7, %c1_i64, %0 : i64
    %9 = arith.extui %7 : i1 to i64
    %10 = arith.muli %8, %1 : i64
    %11 = arith.addi %9, %c1_i64 : i64
    %12 = arith.cmpi slt, %1, %c0_i64 : i64
    %13 = arith.select %12, %8, %10 : i64
    %14 = arith.select %12, %11, %9 : i64
    %15 = arith.muli %13, %c48_i64 : i64
    %16 = arith.cmpi sle, %14, %c1_i64 : i64
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %17 = arith.index_cast %dim_6 : index to i64
    %18 = arith.muli %17, %c48_i64 : i64
    %19 = arith.divsi %18, %15 : i64
    %20 = arith.select %7, %19, %0 : i64
    %21 = arith.select %12, %19, %1 : i64
    %from_elements = tensor.from_elements %20, %21, %c1_i64, %c4_i64, %c12_i64 : tensor<5xi64>
    %reshape = tensor.reshape %6(%from_elements) : (tensor<1x?x48xf32>, tensor<5xi64>) -> tensor<?x?x1x4x12xf32>
    %22 = arith.index_cast %20 : i64 to index
    %23 = arith.index_cast %21 : i64 to index
    %24 = tensor.empty(%22, %23) : tensor<?x?x4x12x1xf32>
    %transposed_7 = linalg.transpose ins(%reshape : tensor<?x?x1x4x12xf32>) outs(%24 : tensor<?x?x4x12x1xf32>) permutation = [0, 1, 3, 4, 2] 
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %25 = arith.muli %20, %21 : i64
    %26 = arith.muli %25, %c48_i64 : i64
    %27 = arith.divsi %26, %15 : i64
    %28 = arith.select %7, %27, %0 : i64
    %29 = arith.select %12, %27, %1 : i64
    %from_elements_8 = tensor.from_elements %28, %29, %c4_i64, %c12_i64 : tensor<4xi64>
    %reshape_9 = tensor.reshape %transposed_7(%from_elements_8) : (tensor<?x?x4x12x1xf32>, tensor<4xi64>) -> tensor<?x?x4x12xf32>
    %30 = arith.index_cast %28 : i64 to index
    %31 = arith.index_cast %29 : i64 to index
    %32 = tensor.empty(%30, %31) : tensor<?x?x4x12xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_9 : tensor<?x?x4x12xf32>) outs(%32 : tensor<?x?x4x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.negf %in : f32
      %84 = math.exp %83 : f32
      %85 = arith.addf %84, %cst_0 : f32
      %86 = arith.divf %cst_0, %85 : f32
      linalg.yield %86 : f32
    } -> tensor<?x?x4x12xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_9, %33 : tensor<?x?x4x12xf32>, tensor<?x?x4x12xf32>) outs(%32 : tensor<?x?x4x12xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %83 = arith.mulf %in, %in_30 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4x12xf32>
    %35 = tensor.empty() : tensor<8x4xf32>
    %transposed_10 = linalg.transpose ins(%arg1 : tensor<4x8xf32>) outs(%35 : tensor<8x4xf32>) permutation = [1, 0] 
    %cast_11 = tensor.cast %arg0 : tensor<?x?x8xf32> to tensor<?x1x8xf32>
    %collapsed_12 = tensor.collapse_shape %cast_11 [[0], [1, 2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
    %dim_13 = tensor.dim %arg0, %c0 : tensor<?x?x8xf32>
    %36 = tensor.empty(%dim_13) : tensor<?x4xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %38 = linalg.matmul ins(%collapsed_12, %transposed_10 : tensor<?x8xf32>, tensor<8x4xf32>) outs(%37 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %39 = arith.muli %13, %c4_i64 : i64
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %40 = arith.index_cast %dim_13 : index to i64
    %41 = arith.muli %40, %c4_i64 : i64
    %42 = arith.divsi %41, %39 : i64
    %43 = arith.select %7, %42, %0 : i64
    %44 = arith.select %12, %42, %1 : i64
    %from_elements_14 = tensor.from_elements %43, %44, %c4_i64 : tensor<3xi64>
    %reshape_15 = tensor.reshape %38(%from_elements_14) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
    %45 = arith.index_cast %43 : i64 to index
    %46 = arith.index_cast %44 : i64 to index
    %47 = tensor.empty(%45, %46) : tensor<?x?xi64>
    %48 = linalg.fill ins(%c0_i64 : i64) outs(%47 : tensor<?x?xi64>) -> tensor<?x?xi64>
    %49 = tensor.empty(%45, %46) : tensor<?x?xf32>
    %50 = linalg.fill ins(%cst_1 : f32) outs(%49 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %51:2 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%reshape_15 : tensor<?x?x4xf32>) outs(%50, %48 : tensor<?x?xf32>, tensor<?x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %83 = linalg.index 2 : index
      %84 = arith.index_cast %83 : index to i64
      %85 = arith.maximumf %in, %out : f32
      %86 = arith.cmpf ogt, %in, %out : f32
      %87 = arith.select %86, %84, %out_30 : i64
      linalg.yield %85, %87 : f32, i64
    } -> (tensor<?x?xf32>, tensor<?x?xi64>)
    %expanded_16 = tensor.expand_shape %51#0 [[0], [1, 2]] output_shape [%45, %46, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
    %52 = tensor.empty(%45, %46) : tensor<?x?x4xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_15, %expanded_16 : tensor<?x?x4xf32>, tensor<?x?x1xf32>) outs(%52 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %83 = arith.subf %in, %in_30 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<?x?x4xf32>) outs(%52 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.exp %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %55 = tensor.empty(%45, %46) : tensor<?x?x1xf32>
    %56 = linalg.fill ins(%cst : f32) outs(%55 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %57 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%54 : tensor<?x?x4xf32>) outs(%56 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %out : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x1xf32>
    %58 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %57 : tensor<?x?x4xf32>, tensor<?x?x1xf32>) outs(%52 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %83 = arith.divf %in, %in_30 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %expanded_17 = tensor.expand_shape %58 [[0], [1], [2, 3, 4]] output_shape [%45, %46, 4, 1, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1x1xf32>
    %59 = tensor.empty(%45, %46) : tensor<?x?x1x4x1xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<?x?x4x1x1xf32>) outs(%59 : tensor<?x?x1x4x1xf32>) permutation = [0, 1, 3, 2, 4] 
    %expanded_19 = tensor.expand_shape %34 [[0], [1], [2], [3, 4]] output_shape [%30, %31, 4, 12, 1] : tensor<?x?x4x12xf32> into tensor<?x?x4x12x1xf32>
    %60 = tensor.empty(%30, %31) : tensor<?x?x1x4x12xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<?x?x4x12x1xf32>) outs(%60 : tensor<?x?x1x4x12xf32>) permutation = [0, 1, 4, 2, 3] 
    %61 = arith.cmpi eq, %45, %30 : index
    cf.assert %61, "mismatched size for broadcast"
    %62 = arith.cmpi eq, %46, %31 : index
    cf.assert %62, "mismatched size for broadcast"
    %63 = tensor.empty(%46) : tensor<1x?x1x4x12xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_18, %transposed_20 : tensor<?x?x1x4x1xf32>, tensor<?x?x1x4x12xf32>) outs(%63 : tensor<1x?x1x4x12xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %83 = arith.mulf %in, %in_30 : f32
      linalg.yield %83 : f32
    } -> tensor<1x?x1x4x12xf32>
    %65 = tensor.empty(%46) : tensor<1x?x4x12x1xf32>
    %transposed_21 = linalg.transpose ins(%64 : tensor<1x?x1x4x12xf32>) outs(%65 : tensor<1x?x4x12x1xf32>) permutation = [0, 1, 3, 4, 2] 
    %66 = arith.cmpi eq, %43, %c1_i64 : i64
    cf.assert %66, "mismatching contracting dimension"
    %collapsed_22 = tensor.collapse_shape %transposed_21 [[0], [1], [2, 3, 4]] : tensor<1x?x4x12x1xf32> into tensor<1x?x48xf32>
    %collapsed_23 = tensor.collapse_shape %arg3 [[0, 1], [2]] : tensor<4x12x8xf32> into tensor<48x8xf32>
    %expanded_24 = tensor.expand_shape %collapsed_23 [[0, 1], [2]] output_shape [1, 48, 8] : tensor<48x8xf32> into tensor<1x48x8xf32>
    %67 = tensor.empty(%46) : tensor<1x?x8xf32>
    %68 = linalg.fill ins(%cst : f32) outs(%67 : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    %69 = linalg.batch_matmul ins(%collapsed_22, %expanded_24 : tensor<1x?x48xf32>, tensor<1x48x8xf32>) outs(%68 : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    %70 = arith.muli %13, %c8_i64 : i64
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %71 = arith.muli %44, %c8_i64 : i64
    %72 = arith.divsi %71, %70 : i64
    %73 = arith.select %7, %72, %0 : i64
    %74 = arith.select %12, %72, %1 : i64
    %from_elements_25 = tensor.from_elements %73, %74, %c1_i64, %c1_i64, %c8_i64 : tensor<5xi64>
    %reshape_26 = tensor.reshape %69(%from_elements_25) : (tensor<1x?x8xf32>, tensor<5xi64>) -> tensor<?x?x1x1x8xf32>
    %75 = arith.index_cast %73 : i64 to index
    %76 = arith.index_cast %74 : i64 to index
    %77 = tensor.empty(%75, %76) : tensor<?x?x8x1x1xf32>
    %transposed_27 = linalg.transpose ins(%reshape_26 : tensor<?x?x1x1x8xf32>) outs(%77 : tensor<?x?x8x1x1xf32>) permutation = [0, 1, 4, 2, 3] 
    cf.assert %16, "must have at most one inferred (negative) dimension"
    %78 = arith.muli %73, %74 : i64
    %79 = arith.muli %78, %c8_i64 : i64
    %80 = arith.divsi %79, %70 : i64
    %81 = arith.select %7, %80, %0 : i64
    %82 = arith.select %12, %80, %1 : i64
    %from_elements_28 = tensor.from_elements %81, %82, %c8_i64 : tensor<3xi64>
    %reshape_29 = tensor.reshape %transposed_27(%from_elements_28) : (tensor<?x?x8x1x1xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    return %reshape_29 : tensor<?x?x8xf32>
  }
}
