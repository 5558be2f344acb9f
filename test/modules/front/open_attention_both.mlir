// open_attention_both: f32 2x5x24, f32 24x24, f32 24x24, f32 24x24, f32 24x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<?x?x24xf32>, %arg1: tensor<24x24xf32>, %arg2: tensor<24x24xf32>, %arg3: tensor<24x24xf32>, %arg4: tensor<24x24xf32>) -> tensor<?x?x24xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c3_i64 = arith.constant 3 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c24_i64 = arith.constant 24 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c8_i64 = arith.constant 8 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 3.500000e-01 : f64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_2 = tensor.dim %arg0, %c1 : tensor<?x?x24xf32>
    %1 = arith.index_cast %dim_2 : index to i64
    %2 = tensor.empty() : tensor<24x24xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<24x24xf32>) outs(%2 : tensor<24x24xf32>) permutation = [1, 0] 
    %cast = tensor.cast %arg0 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %dim_3 = tensor.dim %arg0, %c0 : tensor<?x?x24xf32>
    %3 = tensor.empty(%dim_3) : tensor<?x24xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %6 = arith.cmpi slt, %0, %c0_i64 : i64
    %7 = arith.select %6, %c1_i64, %0 : i64
    %8 = arith.extui %6 : i1 to i64
    %9 = arith.muli %7, %1 : i64
    %10 = arith.addi %8, %c1_i64 : i64
    %11 = arith.cmpi slt, %1, %c0_i64 : i64
    %12 = arith.select %11, %7, %9 : i64
    %13 = arith.select %11, %10, %8 : i64
    %14 = arith.muli %12, %c24_i64 : i64
    %15 = arith.cmpi sle, %13, %c1_i64 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %16 = arith.index_cast %dim_3 : index to i64
    %17 = arith.muli %16, %c24_i64 : i64
    %18 = arith.divsi %17, %14 : i64
    %19 = arith.select %6, %18, %0 : i64
    %20 = arith.select %11, %18, %1 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %21 = arith.muli %19, %20 : i64
    %22 = arith.muli %21, %c24_i64 : i64
    %23 = arith.divsi %22, %14 : i64
    %24 = arith.select %6, %23, %0 : i64
    %25 = arith.select %11, %23, %1 : i64
    %from_elements = tensor.from_elements %24, %25, %c3_i64, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %5(%from_elements) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x?x3x8xf32>
    %26 = arith.index_cast %24 : i64 to index
    %27 = arith.index_cast %25 : i64 to index
    %28 = tensor.empty(%26, %27) : tensor<?x3x?x8xf32>
    %transposed_4 = linalg.transpose ins(%reshape : tensor<?x?x3x8xf32>) outs(%28 : tensor<?x3x?x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_5 = linalg.transpose ins(%arg2 : tensor<24x24xf32>) outs(%2 : tensor<24x24xf32>) permutation = [1, 0] 
    %29 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    cf.assert %15, "must have at most one inferred (negative) dimension"
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %reshape_6 = tensor.reshape %29(%from_elements) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x?x3x8xf32>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<24x24xf32>) outs(%2 : tensor<24x24xf32>) permutation = [1, 0] 
    %30 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    cf.assert %15, "must have at most one inferred (negative) dimension"
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %reshape_8 = tensor.reshape %30(%from_elements) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x?x3x8xf32>
    %transposed_9 = linalg.transpose ins(%reshape_8 : tensor<?x?x3x8xf32>) outs(%28 : tensor<?x3x?x8xf32>) permutation = [0, 2, 1, 3] 
    %31 = tensor.empty(%26, %27) : tensor<?x3x8x?xf32>
    %transposed_10 = linalg.transpose ins(%reshape_6 : tensor<?x?x3x8xf32>) outs(%31 : tensor<?x3x8x?xf32>) permutation = [0, 2, 3, 1] 
    %32 = arith.muli %0, %c3_i64 : i64
    %33 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %33, "unimplemented: dynamic negative broadcast sizes"
    %34 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %34, "unimplemented: dynamic negative broadcast sizes"
    %35 = tensor.empty(%dim, %dim_2) : tensor<?x3x?x8xf32>
    %36 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%35 : tensor<?x3x?x8xf32>) {
    ^bb0(%out: f32):
      %137 = linalg.index 0 : index
      %138 = linalg.index 1 : index
      %139 = linalg.index 2 : index
      %140 = linalg.index 3 : index
      %141 = arith.cmpi eq, %26, %c1 : index
      %142 = arith.select %141, %c0, %137 : index
      %143 = arith.cmpi eq, %27, %c1 : index
      %144 = arith.select %143, %c0, %139 : index
      %extracted = tensor.extract %transposed_4[%142, %138, %144, %140] : tensor<?x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x?x8xf32>
    %37 = arith.cmpi slt, %32, %c0_i64 : i64
    %38 = arith.select %37, %c1_i64, %32 : i64
    %39 = arith.extui %37 : i1 to i64
    %40 = arith.muli %38, %1 : i64
    %41 = arith.addi %39, %c1_i64 : i64
    %42 = arith.select %11, %38, %40 : i64
    %43 = arith.select %11, %41, %39 : i64
    %44 = arith.muli %42, %c8_i64 : i64
    %45 = arith.cmpi sle, %43, %c1_i64 : i64
    cf.assert %45, "must have at most one inferred (negative) dimension"
    %46 = arith.muli %32, %1 : i64
    %47 = arith.muli %46, %c8_i64 : i64
    %48 = arith.divsi %47, %44 : i64
    %49 = arith.select %37, %48, %32 : i64
    %50 = arith.select %11, %48, %1 : i64
    %from_elements_11 = tensor.from_elements %49, %50, %c8_i64 : tensor<3xi64>
    %reshape_12 = tensor.reshape %36(%from_elements_11) : (tensor<?x3x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    cf.assert %33, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %34, "unimplemented: dynamic negative broadcast sizes"
    %51 = tensor.empty(%dim, %dim_2) : tensor<?x3x8x?xf32>
    %52 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%51 : tensor<?x3x8x?xf32>) {
    ^bb0(%out: f32):
      %137 = linalg.index 0 : index
      %138 = linalg.index 1 : index
      %139 = linalg.index 2 : index
      %140 = linalg.index 3 : index
      %141 = arith.cmpi eq, %26, %c1 : index
      %142 = arith.select %141, %c0, %137 : index
      %143 = arith.cmpi eq, %27, %c1 : index
      %144 = arith.select %143, %c0, %140 : index
      %extracted = tensor.extract %transposed_10[%142, %138, %139, %144] : tensor<?x3x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x8x?xf32>
    %53 = arith.muli %38, %c8_i64 : i64
    %54 = arith.muli %53, %1 : i64
    %55 = arith.select %11, %53, %54 : i64
    cf.assert %45, "must have at most one inferred (negative) dimension"
    %56 = arith.muli %0, %c24_i64 : i64
    %57 = arith.muli %56, %1 : i64
    %58 = arith.divsi %57, %55 : i64
    %59 = arith.select %37, %58, %32 : i64
    %60 = arith.select %11, %58, %1 : i64
    %from_elements_13 = tensor.from_elements %59, %c8_i64, %60 : tensor<3xi64>
    %reshape_14 = tensor.reshape %52(%from_elements_13) : (tensor<?x3x8x?xf32>, tensor<3xi64>) -> tensor<?x8x?xf32>
    %61 = arith.index_cast %49 : i64 to index
    %62 = arith.index_cast %50 : i64 to index
    %63 = arith.index_cast %60 : i64 to index
    %64 = arith.cmpi eq, %49, %59 : i64
    cf.assert %64, "mismatching contracting dimension"
    %65 = tensor.empty(%61, %62, %63) : tensor<?x?x?xf32>
    %66 = linalg.fill ins(%cst : f32) outs(%65 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %67 = linalg.batch_matmul ins(%reshape_12, %reshape_14 : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%66 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %68 = arith.muli %7, %c3_i64 : i64
    %69 = arith.muli %68, %1 : i64
    %70 = arith.select %11, %68, %69 : i64
    %71 = arith.muli %70, %1 : i64
    %72 = arith.addi %13, %c1_i64 : i64
    %73 = arith.select %11, %68, %71 : i64
    %74 = arith.select %11, %72, %8 : i64
    %75 = arith.cmpi sle, %74, %c1_i64 : i64
    cf.assert %75, "must have at most one inferred (negative) dimension"
    %76 = arith.muli %49, %50 : i64
    %77 = arith.muli %76, %60 : i64
    %78 = arith.divsi %77, %73 : i64
    %79 = arith.select %6, %78, %0 : i64
    %80 = arith.select %11, %78, %1 : i64
    %from_elements_15 = tensor.from_elements %79, %c3_i64, %80, %80 : tensor<4xi64>
    %reshape_16 = tensor.reshape %67(%from_elements_15) : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x3x?x?xf32>
    %81 = arith.index_cast %79 : i64 to index
    %82 = arith.index_cast %80 : i64 to index
    %83 = tensor.empty(%81, %82, %82) : tensor<?x3x?x?xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_16 : tensor<?x3x?x?xf32>) outs(%83 : tensor<?x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %137 = arith.truncf %cst_1 : f64 to f32
      %138 = arith.mulf %in, %137 : f32
      linalg.yield %138 : f32
    } -> tensor<?x3x?x?xf32>
    %85 = tensor.empty(%81, %82) : tensor<?x3x?xi64>
    %86 = linalg.fill ins(%c0_i64 : i64) outs(%85 : tensor<?x3x?xi64>) -> tensor<?x3x?xi64>
    %87 = tensor.empty(%81, %82) : tensor<?x3x?xf32>
    %88 = linalg.fill ins(%cst_0 : f32) outs(%87 : tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
    %89:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%84 : tensor<?x3x?x?xf32>) outs(%88, %86 : tensor<?x3x?xf32>, tensor<?x3x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %137 = linalg.index 3 : index
      %138 = arith.index_cast %137 : index to i64
      %139 = arith.maximumf %in, %out : f32
      %140 = arith.cmpf ogt, %in, %out : f32
      %141 = arith.select %140, %138, %out_30 : i64
      linalg.yield %139, %141 : f32, i64
    } -> (tensor<?x3x?xf32>, tensor<?x3x?xi64>)
    %expanded = tensor.expand_shape %89#0 [[0], [1], [2, 3]] output_shape [%81, 3, %82, 1] : tensor<?x3x?xf32> into tensor<?x3x?x1xf32>
    %90 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%84, %expanded : tensor<?x3x?x?xf32>, tensor<?x3x?x1xf32>) outs(%83 : tensor<?x3x?x?xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %137 = arith.subf %in, %in_30 : f32
      linalg.yield %137 : f32
    } -> tensor<?x3x?x?xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90 : tensor<?x3x?x?xf32>) outs(%83 : tensor<?x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %137 = math.exp %in : f32
      linalg.yield %137 : f32
    } -> tensor<?x3x?x?xf32>
    %92 = tensor.empty(%81, %82) : tensor<?x3x?x1xf32>
    %93 = linalg.fill ins(%cst : f32) outs(%92 : tensor<?x3x?x1xf32>) -> tensor<?x3x?x1xf32>
    %94 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%91 : tensor<?x3x?x?xf32>) outs(%93 : tensor<?x3x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %137 = arith.addf %in, %out : f32
      linalg.yield %137 : f32
    } -> tensor<?x3x?x1xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%91, %94 : tensor<?x3x?x?xf32>, tensor<?x3x?x1xf32>) outs(%83 : tensor<?x3x?x?xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %137 = arith.divf %in, %in_30 : f32
      linalg.yield %137 : f32
    } -> tensor<?x3x?x?xf32>
    cf.assert %33, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %34, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %34, "unimplemented: dynamic negative broadcast sizes"
    %96 = tensor.empty(%dim, %dim_2, %dim_2) : tensor<?x3x?x?xf32>
    %97 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%96 : tensor<?x3x?x?xf32>) {
    ^bb0(%out: f32):
      %137 = linalg.index 0 : index
      %138 = linalg.index 1 : index
      %139 = linalg.index 2 : index
      %140 = linalg.index 3 : index
      %141 = arith.cmpi eq, %81, %c1 : index
      %142 = arith.select %141, %c0, %137 : index
      %143 = arith.cmpi eq, %82, %c1 : index
      %144 = arith.select %143, %c0, %139 : index
      %145 = arith.select %143, %c0, %140 : index
      %extracted = tensor.extract %95[%142, %138, %144, %145] : tensor<?x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x?x?xf32>
    %98 = arith.muli %42, %1 : i64
    %99 = arith.addi %43, %c1_i64 : i64
    %100 = arith.select %11, %38, %98 : i64
    %101 = arith.select %11, %99, %39 : i64
    %102 = arith.cmpi sle, %101, %c1_i64 : i64
    cf.assert %102, "must have at most one inferred (negative) dimension"
    %103 = arith.muli %46, %1 : i64
    %104 = arith.divsi %103, %100 : i64
    %105 = arith.select %37, %104, %32 : i64
    %106 = arith.select %11, %104, %1 : i64
    %from_elements_17 = tensor.from_elements %105, %106, %106 : tensor<3xi64>
    %reshape_18 = tensor.reshape %97(%from_elements_17) : (tensor<?x3x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    cf.assert %33, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %34, "unimplemented: dynamic negative broadcast sizes"
    %107 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%35 : tensor<?x3x?x8xf32>) {
    ^bb0(%out: f32):
      %137 = linalg.index 0 : index
      %138 = linalg.index 1 : index
      %139 = linalg.index 2 : index
      %140 = linalg.index 3 : index
      %141 = arith.cmpi eq, %26, %c1 : index
      %142 = arith.select %141, %c0, %137 : index
      %143 = arith.cmpi eq, %27, %c1 : index
      %144 = arith.select %143, %c0, %139 : index
      %extracted = tensor.extract %transposed_9[%142, %138, %144, %140] : tensor<?x3x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x?x8xf32>
    cf.assert %45, "must have at most one inferred (negative) dimension"
    %reshape_19 = tensor.reshape %107(%from_elements_11) : (tensor<?x3x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    %108 = arith.index_cast %105 : i64 to index
    %109 = arith.index_cast %106 : i64 to index
    %110 = arith.cmpi eq, %105, %49 : i64
    cf.assert %110, "mismatching contracting dimension"
    %111 = arith.cmpi eq, %106, %50 : i64
    cf.assert %111, "mismatching contracting dimension"
    %112 = tensor.empty(%108, %109) : tensor<?x?x8xf32>
    %113 = linalg.fill ins(%cst : f32) outs(%112 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %114 = linalg.batch_matmul ins(%reshape_18, %reshape_19 : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%113 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %115 = arith.muli %70, %c8_i64 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %116 = arith.muli %105, %106 : i64
    %117 = arith.muli %116, %c8_i64 : i64
    %118 = arith.divsi %117, %115 : i64
    %119 = arith.select %6, %118, %0 : i64
    %120 = arith.select %11, %118, %1 : i64
    %from_elements_20 = tensor.from_elements %119, %c3_i64, %120, %c8_i64 : tensor<4xi64>
    %reshape_21 = tensor.reshape %114(%from_elements_20) : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x3x?x8xf32>
    %121 = arith.index_cast %119 : i64 to index
    %122 = arith.index_cast %120 : i64 to index
    %123 = tensor.empty(%121, %122) : tensor<?x?x3x8xf32>
    %transposed_22 = linalg.transpose ins(%reshape_21 : tensor<?x3x?x8xf32>) outs(%123 : tensor<?x?x3x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %124 = arith.muli %119, %120 : i64
    %125 = arith.muli %124, %c24_i64 : i64
    %126 = arith.divsi %125, %14 : i64
    %127 = arith.select %6, %126, %0 : i64
    %128 = arith.select %11, %126, %1 : i64
    %from_elements_23 = tensor.from_elements %127, %128, %c24_i64 : tensor<3xi64>
    %reshape_24 = tensor.reshape %transposed_22(%from_elements_23) : (tensor<?x?x3x8xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    %transposed_25 = linalg.transpose ins(%arg4 : tensor<24x24xf32>) outs(%2 : tensor<24x24xf32>) permutation = [1, 0] 
    %cast_26 = tensor.cast %reshape_24 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %collapsed_27 = tensor.collapse_shape %cast_26 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %129 = arith.index_cast %127 : i64 to index
    %130 = tensor.empty(%129) : tensor<?x24xf32>
    %131 = linalg.fill ins(%cst : f32) outs(%130 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %132 = linalg.matmul ins(%collapsed_27, %transposed_25 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%131 : tensor<?x24xf32>) -> tensor<?x24xf32>
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %133 = arith.muli %127, %c24_i64 : i64
    %134 = arith.divsi %133, %14 : i64
    %135 = arith.select %6, %134, %0 : i64
    %136 = arith.select %11, %134, %1 : i64
    %from_elements_28 = tensor.from_elements %135, %136, %c24_i64 : tensor<3xi64>
    %reshape_29 = tensor.reshape %132(%from_elements_28) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    return %reshape_29 : tensor<?x?x24xf32>
  }
}
