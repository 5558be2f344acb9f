// open_routed_experts: f32 2x5x8, f32 2x5x4, f32 4x8x12, f32 4x12x8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<?x?x8xf32>, %arg1: tensor<?x?x4xf32>, %arg2: tensor<4x8x12xf32>, %arg3: tensor<4x12x8xf32>) -> tensor<?x?x8xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8_i64 = arith.constant 8 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c4_i64 = arith.constant 4 : i64
    %c12_i64 = arith.constant 12 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %c48_i64 = arith.constant 48 : i64
    %c32_i64 = arith.constant 32 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_1 = tensor.dim %arg1, %c1 : tensor<?x?x4xf32>
    %1 = arith.index_cast %dim_1 : index to i64
    %dim_2 = tensor.dim %arg0, %c1 : tensor<?x?x8xf32>
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3, 4]] output_shape [%dim, %dim_2, 8, 1, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1x1xf32>
    %expanded_3 = tensor.expand_shape %arg2 [[0], [1], [2, 3, 4]] output_shape [4, 8, 12, 1, 1] : tensor<4x8x12xf32> into tensor<4x8x12x1x1xf32>
    %2 = arith.muli %0, %1 : i64
    %3 = arith.cmpi eq, %0, %c1_i64 : i64
    cf.assert %3, "mismatching contracting dimension"
    %cast = tensor.cast %expanded : tensor<?x?x8x1x1xf32> to tensor<1x?x8x1x1xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1], [2, 3, 4]] : tensor<1x?x8x1x1xf32> into tensor<1x?x8xf32>
    %4 = tensor.empty() : tensor<8x4x12x1x1xf32>
    %transposed = linalg.transpose ins(%expanded_3 : tensor<4x8x12x1x1xf32>) outs(%4 : tensor<8x4x12x1x1xf32>) permutation = [1, 0, 2, 3, 4] 
    %collapsed_4 = tensor.collapse_shape %transposed [[0], [1, 2, 3, 4]] : tensor<8x4x12x1x1xf32> into tensor<8x48xf32>
    %expanded_5 = tensor.expand_shape %collapsed_4 [[0, 1], [2]] output_shape [1, 8, 48] : tensor<8x48xf32> into tensor<1x8x48xf32>
    %dim_6 = tensor.dim %expanded, %c1 : tensor<?x?x8x1x1xf32>
    %5 = tensor.empty(%dim_6) : tensor<1x?x48xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %7 = linalg.batch_matmul ins(%collapsed, %expanded_5 : tensor<1x?x8xf32>, tensor<1x8x48xf32>) outs(%6 : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
    %8 = arith.cmpi slt, %0, %c0_i64 : i64
    %9 = arith.select %8, %c1_i64, %0 : i64
    %10 = arith.extui %8 : i1 to i64
    %11 = arith.muli %9, %1 : i64
    %12 = arith.addi %10, %c1_i64 : i64
    %13 = arith.cmpi slt, %1, %c0_i64 : i64
    %14 = arith.select %13, %9, %11 : i64
    %15 = arith.select %13, %12, %10 : i64
    %16 = arith.muli %14, %c48_i64 : i64
    %17 = arith.cmpi sle, %15, %c1_i64 : i64
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %18 = arith.index_cast %dim_6 : index to i64
    %19 = arith.muli %18, %c48_i64 : i64
    %20 = arith.divsi %19, %16 : i64
    %21 = arith.select %8, %20, %0 : i64
    %22 = arith.select %13, %20, %1 : i64
    %from_elements = tensor.from_elements %21, %22, %c1_i64, %c4_i64, %c12_i64 : tensor<5xi64>
    %reshape = tensor.reshape %7(%from_elements) : (tensor<1x?x48xf32>, tensor<5xi64>) -> tensor<?x?x1x4x12xf32>
    %23 = arith.index_cast %21 : i64 to index
    %24 = arith.index_cast %22 : i64 to index
    %25 = tensor.empty(%23, %24) : tensor<?x4x?x12x1xf32>
    %transposed_7 = linalg.transpose ins(%reshape : tensor<?x?x1x4x12xf32>) outs(%25 : tensor<?x4x?x12x1xf32>) permutation = [0, 3, 1, 4, 2] 
    %26 = arith.muli %9, %c4_i64 : i64
    %27 = arith.muli %26, %1 : i64
    %28 = arith.select %13, %26, %27 : i64
    %29 = arith.muli %28, %c12_i64 : i64
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %30 = arith.muli %21, %c4_i64 : i64
    %31 = arith.muli %30, %22 : i64
    %32 = arith.muli %31, %c12_i64 : i64
    %33 = arith.divsi %32, %29 : i64
    %34 = arith.select %8, %33, %0 : i64
    %35 = arith.select %13, %33, %1 : i64
    %from_elements_8 = tensor.from_elements %34, %c4_i64, %35, %c12_i64 : tensor<4xi64>
    %reshape_9 = tensor.reshape %transposed_7(%from_elements_8) : (tensor<?x4x?x12x1xf32>, tensor<4xi64>) -> tensor<?x4x?x12xf32>
    %36 = arith.index_cast %34 : i64 to index
    %37 = arith.index_cast %35 : i64 to index
    %38 = tensor.empty(%36, %37) : tensor<?x4x?x12xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_9 : tensor<?x4x?x12xf32>) outs(%38 : tensor<?x4x?x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %96 = arith.negf %in : f32
      %97 = math.exp %96 : f32
      %98 = arith.addf %97, %cst_0 : f32
      %99 = arith.divf %cst_0, %98 : f32
      linalg.yield %99 : f32
    } -> tensor<?x4x?x12xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_9, %39 : tensor<?x4x?x12xf32>, tensor<?x4x?x12xf32>) outs(%38 : tensor<?x4x?x12xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %96 = arith.mulf %in, %in_33 : f32
      linalg.yield %96 : f32
    } -> tensor<?x4x?x12xf32>
    %expanded_10 = tensor.expand_shape %40 [[0], [1], [2], [3, 4]] output_shape [%36, 4, %37, 12, 1] : tensor<?x4x?x12xf32> into tensor<?x4x?x12x1xf32>
    %41 = tensor.empty(%36) : tensor<4x?x1x12x1xf32>
    %cast_11 = tensor.cast %expanded_10 : tensor<?x4x?x12x1xf32> to tensor<?x4x1x12x1xf32>
    %transposed_12 = linalg.transpose ins(%cast_11 : tensor<?x4x1x12x1xf32>) outs(%41 : tensor<4x?x1x12x1xf32>) permutation = [1, 0, 2, 3, 4] 
    %collapsed_13 = tensor.collapse_shape %transposed_12 [[0], [1], [2, 3, 4]] : tensor<4x?x1x12x1xf32> into tensor<4x?x12xf32>
    %dim_14 = tensor.dim %expanded_10, %c0 : tensor<?x4x?x12x1xf32>
    %42 = tensor.empty(%dim_14) : tensor<4x?x8xf32>
    %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %44 = linalg.batch_matmul ins(%collapsed_13, %arg3 : tensor<4x?x12xf32>, tensor<4x12x8xf32>) outs(%43 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
    %45 = arith.muli %0, %c4_i64 : i64
    %46 = arith.select %8, %c4_i64, %45 : i64
    %47 = arith.muli %46, %1 : i64
    %48 = arith.select %13, %46, %47 : i64
    %49 = arith.muli %48, %c8_i64 : i64
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %50 = arith.index_cast %dim_14 : index to i64
    %51 = arith.muli %50, %c32_i64 : i64
    %52 = arith.divsi %51, %49 : i64
    %53 = arith.select %8, %52, %0 : i64
    %54 = arith.select %13, %52, %1 : i64
    %from_elements_15 = tensor.from_elements %c4_i64, %53, %54, %c1_i64, %c8_i64 : tensor<5xi64>
    %reshape_16 = tensor.reshape %44(%from_elements_15) : (tensor<4x?x8xf32>, tensor<5xi64>) -> tensor<4x?x?x1x8xf32>
    %55 = arith.index_cast %53 : i64 to index
    %56 = arith.index_cast %54 : i64 to index
    %57 = tensor.empty(%55, %56) : tensor<?x4x?x8x1xf32>
    %transposed_17 = linalg.transpose ins(%reshape_16 : tensor<4x?x?x1x8xf32>) outs(%57 : tensor<?x4x?x8x1xf32>) permutation = [1, 0, 2, 4, 3] 
    %58 = arith.muli %28, %c8_i64 : i64
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %59 = arith.muli %53, %c4_i64 : i64
    %60 = arith.muli %59, %54 : i64
    %61 = arith.muli %60, %c8_i64 : i64
    %62 = arith.divsi %61, %58 : i64
    %63 = arith.select %8, %62, %0 : i64
    %64 = arith.select %13, %62, %1 : i64
    %from_elements_18 = tensor.from_elements %63, %c4_i64, %64, %c8_i64 : tensor<4xi64>
    %reshape_19 = tensor.reshape %transposed_17(%from_elements_18) : (tensor<?x4x?x8x1xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
    %dim_20 = tensor.dim %arg1, %c0 : tensor<?x?x4xf32>
    %expanded_21 = tensor.expand_shape %arg1 [[0], [1], [2, 3]] output_shape [%dim_20, %dim_1, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %65 = arith.index_cast %63 : i64 to index
    %66 = arith.index_cast %64 : i64 to index
    %67 = arith.cmpi eq, %1, %c1_i64 : i64
    cf.assert %67, "mismatching contracting dimension"
    %cast_22 = tensor.cast %expanded_21 : tensor<?x?x4x1xf32> to tensor<?x1x4x1xf32>
    %collapsed_23 = tensor.collapse_shape %cast_22 [[0], [1], [2, 3]] : tensor<?x1x4x1xf32> into tensor<?x1x4xf32>
    %68 = tensor.empty(%65, %66) : tensor<?x?x4x8xf32>
    %transposed_24 = linalg.transpose ins(%reshape_19 : tensor<?x4x?x8xf32>) outs(%68 : tensor<?x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    %69 = arith.cmpi slt, %2, %c0_i64 : i64
    %70 = arith.select %69, %c1_i64, %2 : i64
    %71 = arith.extui %69 : i1 to i64
    %72 = arith.muli %70, %c32_i64 : i64
    %73 = arith.cmpi sle, %71, %c1_i64 : i64
    cf.assert %73, "must have at most one inferred (negative) dimension"
    %74 = arith.muli %63, %64 : i64
    %75 = arith.muli %74, %c32_i64 : i64
    %76 = arith.divsi %75, %72 : i64
    %77 = arith.select %69, %76, %2 : i64
    %from_elements_25 = tensor.from_elements %77, %c4_i64, %c8_i64 : tensor<3xi64>
    %reshape_26 = tensor.reshape %transposed_24(%from_elements_25) : (tensor<?x?x4x8xf32>, tensor<3xi64>) -> tensor<?x4x8xf32>
    %dim_27 = tensor.dim %expanded_21, %c0 : tensor<?x?x4x1xf32>
    %78 = arith.index_cast %dim_27 : index to i64
    %79 = arith.cmpi eq, %78, %77 : i64
    cf.assert %79, "mismatching contracting dimension"
    %80 = tensor.empty(%dim_27) : tensor<?x1x8xf32>
    %81 = linalg.fill ins(%cst : f32) outs(%80 : tensor<?x1x8xf32>) -> tensor<?x1x8xf32>
    %82 = linalg.batch_matmul ins(%collapsed_23, %reshape_26 : tensor<?x1x4xf32>, tensor<?x4x8xf32>) outs(%81 : tensor<?x1x8xf32>) -> tensor<?x1x8xf32>
    %83 = arith.muli %14, %c8_i64 : i64
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %84 = arith.muli %78, %c8_i64 : i64
    %85 = arith.divsi %84, %83 : i64
    %86 = arith.select %8, %85, %0 : i64
    %87 = arith.select %13, %85, %1 : i64
    %from_elements_28 = tensor.from_elements %86, %87, %c1_i64, %c8_i64 : tensor<4xi64>
    %reshape_29 = tensor.reshape %82(%from_elements_28) : (tensor<?x1x8xf32>, tensor<4xi64>) -> tensor<?x?x1x8xf32>
    %88 = arith.index_cast %86 : i64 to index
    %89 = arith.index_cast %87 : i64 to index
    %90 = tensor.empty(%88, %89) : tensor<?x?x8x1xf32>
    %transposed_30 = linalg.transpose ins(%reshape_29 : tensor<?x?x1x8xf32>) outs(%90 : tensor<?x?x8x1xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %17, "must have at most one inferred (negative) dimension"
    %91 = arith.muli %86, %87 : i64
    %92 = arith.muli %91, %c8_i64 : i64
    %93 = arith.divsi %92, %83 : i64
    %94 = arith.select %8, %93, %0 : i64
    %95 = arith.select %13, %93, %1 : i64
    %from_elements_31 = tensor.from_elements %94, %95, %c8_i64 : tensor<3xi64>
    %reshape_32 = tensor.reshape %transposed_30(%from_elements_31) : (tensor<?x?x8x1xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    return %reshape_32 : tensor<?x?x8xf32>
  }
}
