// open_causal_block: f32 2x5x16, f32 48x16, f32 16x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (0, d1)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map9 = affine_map<(d0, d1, d2, d3) -> ()>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1, d2) -> (d1, d2)>
module {
  func.func @main(%arg0: tensor<?x?x16xf32>, %arg1: tensor<48x16xf32>, %arg2: tensor<16x16xf32>) -> tensor<?x?x16xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c16_i64 = arith.constant 16 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c48_i64 = arith.constant 48 : i64
    %c8_i64 = arith.constant 8 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<i1>
    %cst_4 = arith.constant 0xFFF0000000000000 : f64
    %cst_5 = arith.constant 0.59460355750136051 : f64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x16xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_6 = tensor.dim %arg0, %c1 : tensor<?x?x16xf32>
    %1 = arith.index_cast %dim_6 : index to i64
    %2 = tensor.empty() : tensor<16x48xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<48x16xf32>) outs(%2 : tensor<16x48xf32>) permutation = [1, 0] 
    %cast = tensor.cast %arg0 : tensor<?x?x16xf32> to tensor<?x1x16xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
    %dim_7 = tensor.dim %arg0, %c0 : tensor<?x?x16xf32>
    %3 = tensor.empty(%dim_7) : tensor<?x48xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf32>, tensor<16x48xf32>) outs(%4 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %6 = arith.cmpi slt, %0, %c0_i64 : i64
    %7 = arith.select %6, %c1_i64, %0 : i64
    %8 = arith.extui %6 : i1 to i64
    %9 = arith.muli %7, %1 : i64
    %10 = arith.addi %8, %c1_i64 : i64
    %11 = arith.cmpi slt, %1, %c0_i64 : i64
    %12 = arith.select %11, %7, %9 : i64
    %13 = arith.select %11, %10, %8 : i64
    %14 = arith.muli %12, %c48_i64 : i64
    %15 = arith.cmpi sle, %13, %c1_i64 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %16 = arith.index_cast %dim_7 : index to i64
    %17 = arith.muli %16, %c48_i64 : i64
    %18 = arith.divsi %17, %14 : i64
    %19 = arith.select %6, %18, %0 : i64
    %20 = arith.select %11, %18, %1 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %21 = arith.muli %19, %20 : i64
    %22 = arith.muli %21, %c48_i64 : i64
    %23 = arith.divsi %22, %14 : i64
    %24 = arith.select %6, %23, %0 : i64
    %25 = arith.select %11, %23, %1 : i64
    %from_elements = tensor.from_elements %24, %25, %c3_i64, %c2_i64, %c8_i64 : tensor<5xi64>
    %reshape = tensor.reshape %5(%from_elements) : (tensor<?x48xf32>, tensor<5xi64>) -> tensor<?x?x3x2x8xf32>
    %26 = arith.index_cast %24 : i64 to index
    %27 = arith.index_cast %25 : i64 to index
    %28 = tensor.empty(%26, %27) : tensor<3x?x2x?x8xf32>
    %transposed_8 = linalg.transpose ins(%reshape : tensor<?x?x3x2x8xf32>) outs(%28 : tensor<3x?x2x?x8xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_8[0, 0, 0, 0, 0] [1, %26, 2, %27, 8] [1, 1, 1, 1, 1] : tensor<3x?x2x?x8xf32> to tensor<1x?x2x?x8xf32>
    %extracted_slice_9 = tensor.extract_slice %transposed_8[1, 0, 0, 0, 0] [1, %26, 2, %27, 8] [1, 1, 1, 1, 1] : tensor<3x?x2x?x8xf32> to tensor<1x?x2x?x8xf32>
    %extracted_slice_10 = tensor.extract_slice %transposed_8[2, 0, 0, 0, 0] [1, %26, 2, %27, 8] [1, 1, 1, 1, 1] : tensor<3x?x2x?x8xf32> to tensor<1x?x2x?x8xf32>
    %collapsed_11 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3], [4]] : tensor<1x?x2x?x8xf32> into tensor<?x2x?x8xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_9 [[0, 1], [2], [3], [4]] : tensor<1x?x2x?x8xf32> into tensor<?x2x?x8xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_10 [[0, 1], [2], [3], [4]] : tensor<1x?x2x?x8xf32> into tensor<?x2x?x8xf32>
    %29 = tensor.empty(%26, %27) : tensor<?x2x?x8xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_11 : tensor<?x2x?x8xf32>) outs(%29 : tensor<?x2x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %181 = arith.truncf %cst_5 : f64 to f32
      %182 = arith.mulf %in, %181 : f32
      linalg.yield %182 : f32
    } -> tensor<?x2x?x8xf32>
    %31 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %31, "negative values not allowed in new dimensions"
    cf.assert %31, "negative values not allowed in new dimensions"
    %32 = tensor.empty(%dim_6, %dim_6) : tensor<?x?xi1>
    %33 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<i1>) outs(%32 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<?x?xi1>
    %34 = tensor.empty(%dim_6) : tensor<?xi64>
    %35 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%34 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %181 = linalg.index 0 : index
      %182 = arith.index_cast %181 : index to i64
      linalg.yield %182 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %35 [[0, 1]] output_shape [1, %dim_6] : tensor<?xi64> into tensor<1x?xi64>
    %expanded_14 = tensor.expand_shape %35 [[0, 1]] output_shape [%dim_6, 1] : tensor<?xi64> into tensor<?x1xi64>
    %36 = tensor.empty(%dim_6, %dim_6) : tensor<?x?xi64>
    %37 = linalg.generic {indexing_maps = [#map4, #map5, #map2], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_14 : tensor<1x?xi64>, tensor<?x1xi64>) outs(%36 : tensor<?x?xi64>) {
    ^bb0(%in: i64, %in_36: i64, %out: i64):
      %181 = arith.subi %in, %in_36 : i64
      linalg.yield %181 : i64
    } -> tensor<?x?xi64>
    %38 = tensor.empty(%dim_6, %dim_6) : tensor<?x?xi1>
    %39 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%37 : tensor<?x?xi64>) outs(%38 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %out: i1):
      %181 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %181 : i1
    } -> tensor<?x?xi1>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %40 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%39, %33 : tensor<?x?xi1>, tensor<?x?xi1>) outs(%38 : tensor<?x?xi1>) {
    ^bb0(%in: i1, %in_36: i1, %out: i1):
      %181 = arith.andi %in, %in_36 : i1
      linalg.yield %181 : i1
    } -> tensor<?x?xi1>
    %41 = tensor.empty(%dim_6, %dim_6) : tensor<?x?xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map1, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%40, %cst_1, %cst_2 : tensor<?x?xi1>, tensor<f32>, tensor<f32>) outs(%41 : tensor<?x?xf32>) {
    ^bb0(%in: i1, %in_36: f32, %in_37: f32, %out: f32):
      %181 = arith.select %in, %in_36, %in_37 : f32
      linalg.yield %181 : f32
    } -> tensor<?x?xf32>
    %43 = tensor.empty(%26, %27) : tensor<?x2x8x?xf32>
    %transposed_15 = linalg.transpose ins(%collapsed_12 : tensor<?x2x?x8xf32>) outs(%43 : tensor<?x2x8x?xf32>) permutation = [0, 1, 3, 2] 
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_15 : tensor<?x2x8x?xf32>) outs(%43 : tensor<?x2x8x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %181 = arith.truncf %cst_5 : f64 to f32
      %182 = arith.mulf %in, %181 : f32
      linalg.yield %182 : f32
    } -> tensor<?x2x8x?xf32>
    %45 = arith.muli %0, %c2_i64 : i64
    %46 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %46, "unimplemented: dynamic negative broadcast sizes"
    %47 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    %48 = tensor.empty(%dim, %dim_6) : tensor<?x2x?x8xf32>
    %49 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%48 : tensor<?x2x?x8xf32>) {
    ^bb0(%out: f32):
      %181 = linalg.index 0 : index
      %182 = linalg.index 1 : index
      %183 = linalg.index 2 : index
      %184 = linalg.index 3 : index
      %185 = arith.cmpi eq, %26, %c1 : index
      %186 = arith.select %185, %c0, %181 : index
      %187 = arith.cmpi eq, %27, %c1 : index
      %188 = arith.select %187, %c0, %183 : index
      %extracted = tensor.extract %30[%186, %182, %188, %184] : tensor<?x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x?x8xf32>
    %50 = arith.cmpi slt, %45, %c0_i64 : i64
    %51 = arith.select %50, %c1_i64, %45 : i64
    %52 = arith.extui %50 : i1 to i64
    %53 = arith.muli %51, %1 : i64
    %54 = arith.addi %52, %c1_i64 : i64
    %55 = arith.select %11, %51, %53 : i64
    %56 = arith.select %11, %54, %52 : i64
    %57 = arith.muli %55, %c8_i64 : i64
    %58 = arith.cmpi sle, %56, %c1_i64 : i64
    cf.assert %58, "must have at most one inferred (negative) dimension"
    %59 = arith.muli %45, %1 : i64
    %60 = arith.muli %59, %c8_i64 : i64
    %61 = arith.divsi %60, %57 : i64
    %62 = arith.select %50, %61, %45 : i64
    %63 = arith.select %11, %61, %1 : i64
    %from_elements_16 = tensor.from_elements %62, %63, %c8_i64 : tensor<3xi64>
    %reshape_17 = tensor.reshape %49(%from_elements_16) : (tensor<?x2x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    cf.assert %46, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    %64 = tensor.empty(%dim, %dim_6) : tensor<?x2x8x?xf32>
    %65 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<?x2x8x?xf32>) {
    ^bb0(%out: f32):
      %181 = linalg.index 0 : index
      %182 = linalg.index 1 : index
      %183 = linalg.index 2 : index
      %184 = linalg.index 3 : index
      %185 = arith.cmpi eq, %26, %c1 : index
      %186 = arith.select %185, %c0, %181 : index
      %187 = arith.cmpi eq, %27, %c1 : index
      %188 = arith.select %187, %c0, %184 : index
      %extracted = tensor.extract %44[%186, %182, %183, %188] : tensor<?x2x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x8x?xf32>
    %66 = arith.muli %51, %c8_i64 : i64
    %67 = arith.muli %66, %1 : i64
    %68 = arith.select %11, %66, %67 : i64
    cf.assert %58, "must have at most one inferred (negative) dimension"
    %69 = arith.muli %0, %c16_i64 : i64
    %70 = arith.muli %69, %1 : i64
    %71 = arith.divsi %70, %68 : i64
    %72 = arith.select %50, %71, %45 : i64
    %73 = arith.select %11, %71, %1 : i64
    %from_elements_18 = tensor.from_elements %72, %c8_i64, %73 : tensor<3xi64>
    %reshape_19 = tensor.reshape %65(%from_elements_18) : (tensor<?x2x8x?xf32>, tensor<3xi64>) -> tensor<?x8x?xf32>
    %74 = arith.index_cast %62 : i64 to index
    %75 = arith.index_cast %63 : i64 to index
    %76 = arith.index_cast %73 : i64 to index
    %77 = arith.cmpi eq, %62, %72 : i64
    cf.assert %77, "mismatching contracting dimension"
    %78 = tensor.empty(%74, %75, %76) : tensor<?x?x?xf32>
    %79 = linalg.fill ins(%cst : f32) outs(%78 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %80 = linalg.batch_matmul ins(%reshape_17, %reshape_19 : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%79 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %81 = arith.muli %7, %c2_i64 : i64
    %82 = arith.muli %81, %1 : i64
    %83 = arith.select %11, %81, %82 : i64
    %84 = arith.muli %83, %1 : i64
    %85 = arith.addi %13, %c1_i64 : i64
    %86 = arith.select %11, %81, %84 : i64
    %87 = arith.select %11, %85, %8 : i64
    %88 = arith.cmpi sle, %87, %c1_i64 : i64
    cf.assert %88, "must have at most one inferred (negative) dimension"
    %89 = arith.muli %62, %63 : i64
    %90 = arith.muli %89, %73 : i64
    %91 = arith.divsi %90, %86 : i64
    %92 = arith.select %6, %91, %0 : i64
    %93 = arith.select %11, %91, %1 : i64
    %from_elements_20 = tensor.from_elements %92, %c2_i64, %93, %93 : tensor<4xi64>
    %reshape_21 = tensor.reshape %80(%from_elements_20) : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x2x?x?xf32>
    %94 = arith.index_cast %92 : i64 to index
    %95 = arith.index_cast %93 : i64 to index
    %96 = arith.cmpi eq, %95, %dim_6 : index
    cf.assert %96, "mismatched size for broadcast"
    cf.assert %96, "mismatched size for broadcast"
    %97 = tensor.empty(%94, %95, %95) : tensor<?x2x?x?xf32>
    %98 = linalg.generic {indexing_maps = [#map, #map6, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_21, %42 : tensor<?x2x?x?xf32>, tensor<?x?xf32>) outs(%97 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %181 = arith.addf %in, %in_36 : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x?xf32>
    %99 = tensor.empty(%94, %95) : tensor<?x2x?xi64>
    %100 = linalg.fill ins(%c0_i64 : i64) outs(%99 : tensor<?x2x?xi64>) -> tensor<?x2x?xi64>
    %101 = tensor.empty(%94, %95) : tensor<?x2x?xf32>
    %102 = linalg.fill ins(%cst_0 : f32) outs(%101 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
    %103:2 = linalg.generic {indexing_maps = [#map, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%98 : tensor<?x2x?x?xf32>) outs(%102, %100 : tensor<?x2x?xf32>, tensor<?x2x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %181 = linalg.index 3 : index
      %182 = arith.index_cast %181 : index to i64
      %183 = arith.maximumf %in, %out : f32
      %184 = arith.cmpf ogt, %in, %out : f32
      %185 = arith.select %184, %182, %out_36 : i64
      linalg.yield %183, %185 : f32, i64
    } -> (tensor<?x2x?xf32>, tensor<?x2x?xi64>)
    %expanded_22 = tensor.expand_shape %103#0 [[0], [1], [2, 3]] output_shape [%94, 2, %95, 1] : tensor<?x2x?xf32> into tensor<?x2x?x1xf32>
    %104 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98, %expanded_22 : tensor<?x2x?x?xf32>, tensor<?x2x?x1xf32>) outs(%97 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %181 = arith.subf %in, %in_36 : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x?xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%104 : tensor<?x2x?x?xf32>) outs(%97 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %181 = math.exp %in : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x?xf32>
    %106 = tensor.empty(%94, %95) : tensor<?x2x?x1xf32>
    %107 = linalg.fill ins(%cst : f32) outs(%106 : tensor<?x2x?x1xf32>) -> tensor<?x2x?x1xf32>
    %108 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%105 : tensor<?x2x?x?xf32>) outs(%107 : tensor<?x2x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %181 = arith.addf %in, %out : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x1xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%105, %108 : tensor<?x2x?x?xf32>, tensor<?x2x?x1xf32>) outs(%97 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %181 = arith.divf %in, %in_36 : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x?xf32>
    %110 = tensor.empty(%94, %95, %95) : tensor<?x2x?x?xi1>
    %111 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98 : tensor<?x2x?x?xf32>) outs(%110 : tensor<?x2x?x?xi1>) {
    ^bb0(%in: f32, %out: i1):
      %181 = arith.extf %in : f32 to f64
      %182 = arith.cmpf oeq, %181, %cst_4 : f64
      linalg.yield %182 : i1
    } -> tensor<?x2x?x?xi1>
    %112 = tensor.empty(%94, %95) : tensor<?x2x?x1xi1>
    %113 = linalg.fill ins(%true : i1) outs(%112 : tensor<?x2x?x1xi1>) -> tensor<?x2x?x1xi1>
    %114 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%111 : tensor<?x2x?x?xi1>) outs(%113 : tensor<?x2x?x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %181 = arith.andi %in, %out : i1
      linalg.yield %181 : i1
    } -> tensor<?x2x?x1xi1>
    %115 = arith.cmpi sge, %92, %c0_i64 : i64
    cf.assert %115, "negative values not allowed in new dimensions"
    %116 = arith.index_cast %92 : i64 to index
    %117 = arith.cmpi sge, %93, %c0_i64 : i64
    cf.assert %117, "negative values not allowed in new dimensions"
    %118 = arith.index_cast %93 : i64 to index
    cf.assert %117, "negative values not allowed in new dimensions"
    %119 = tensor.empty(%116, %118, %118) : tensor<?x2x?x?xf32>
    %120 = linalg.generic {indexing_maps = [#map9, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%119 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x2x?x?xf32>
    %121 = arith.cmpi eq, %94, %116 : index
    cf.assert %121, "mismatched size for broadcast"
    %122 = arith.cmpi eq, %95, %118 : index
    cf.assert %122, "mismatched size for broadcast"
    %123 = arith.cmpi eq, %118, %95 : index
    cf.assert %123, "mismatched size for broadcast"
    %124 = tensor.empty(%94, %95, %118) : tensor<?x2x?x?xf32>
    %125 = linalg.generic {indexing_maps = [#map8, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%114, %120, %109 : tensor<?x2x?x1xi1>, tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32>) outs(%124 : tensor<?x2x?x?xf32>) {
    ^bb0(%in: i1, %in_36: f32, %in_37: f32, %out: f32):
      %181 = arith.select %in, %in_36, %in_37 : f32
      linalg.yield %181 : f32
    } -> tensor<?x2x?x?xf32>
    cf.assert %46, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    %126 = tensor.empty(%dim, %dim_6, %dim_6) : tensor<?x2x?x?xf32>
    %127 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%126 : tensor<?x2x?x?xf32>) {
    ^bb0(%out: f32):
      %181 = linalg.index 0 : index
      %182 = linalg.index 1 : index
      %183 = linalg.index 2 : index
      %184 = linalg.index 3 : index
      %185 = arith.cmpi eq, %94, %c1 : index
      %186 = arith.select %185, %c0, %181 : index
      %187 = arith.cmpi eq, %95, %c1 : index
      %188 = arith.select %187, %c0, %183 : index
      %189 = arith.cmpi eq, %118, %c1 : index
      %190 = arith.select %189, %c0, %184 : index
      %extracted = tensor.extract %125[%186, %182, %188, %190] : tensor<?x2x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x?x?xf32>
    %128 = arith.muli %55, %1 : i64
    %129 = arith.addi %56, %c1_i64 : i64
    %130 = arith.select %11, %51, %128 : i64
    %131 = arith.select %11, %129, %52 : i64
    %132 = arith.cmpi sle, %131, %c1_i64 : i64
    cf.assert %132, "must have at most one inferred (negative) dimension"
    %133 = arith.muli %59, %1 : i64
    %134 = arith.divsi %133, %130 : i64
    %135 = arith.select %50, %134, %45 : i64
    %136 = arith.select %11, %134, %1 : i64
    %from_elements_23 = tensor.from_elements %135, %136, %136 : tensor<3xi64>
    %reshape_24 = tensor.reshape %127(%from_elements_23) : (tensor<?x2x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    cf.assert %46, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    %137 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%48 : tensor<?x2x?x8xf32>) {
    ^bb0(%out: f32):
      %181 = linalg.index 0 : index
      %182 = linalg.index 1 : index
      %183 = linalg.index 2 : index
      %184 = linalg.index 3 : index
      %185 = arith.cmpi eq, %26, %c1 : index
      %186 = arith.select %185, %c0, %181 : index
      %187 = arith.cmpi eq, %27, %c1 : index
      %188 = arith.select %187, %c0, %183 : index
      %extracted = tensor.extract %collapsed_13[%186, %182, %188, %184] : tensor<?x2x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x?x8xf32>
    cf.assert %58, "must have at most one inferred (negative) dimension"
    %reshape_25 = tensor.reshape %137(%from_elements_16) : (tensor<?x2x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    %138 = arith.index_cast %135 : i64 to index
    %139 = arith.index_cast %136 : i64 to index
    %140 = arith.cmpi eq, %135, %62 : i64
    cf.assert %140, "mismatching contracting dimension"
    %141 = arith.cmpi eq, %136, %63 : i64
    cf.assert %141, "mismatching contracting dimension"
    %142 = tensor.empty(%138, %139) : tensor<?x?x8xf32>
    %143 = linalg.fill ins(%cst : f32) outs(%142 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %144 = linalg.batch_matmul ins(%reshape_24, %reshape_25 : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%143 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %145 = arith.muli %83, %c8_i64 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %146 = arith.muli %135, %136 : i64
    %147 = arith.muli %146, %c8_i64 : i64
    %148 = arith.divsi %147, %145 : i64
    %149 = arith.select %6, %148, %0 : i64
    %150 = arith.select %11, %148, %1 : i64
    %from_elements_26 = tensor.from_elements %149, %c2_i64, %150, %c8_i64 : tensor<4xi64>
    %reshape_27 = tensor.reshape %144(%from_elements_26) : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x2x?x8xf32>
    %151 = arith.index_cast %149 : i64 to index
    %152 = arith.index_cast %150 : i64 to index
    %153 = tensor.empty(%151, %152) : tensor<?x?x2x8xf32>
    %transposed_28 = linalg.transpose ins(%reshape_27 : tensor<?x2x?x8xf32>) outs(%153 : tensor<?x?x2x8xf32>) permutation = [0, 2, 1, 3] 
    %154 = arith.muli %12, %c16_i64 : i64
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %155 = arith.muli %149, %150 : i64
    %156 = arith.muli %155, %c16_i64 : i64
    %157 = arith.divsi %156, %154 : i64
    %158 = arith.select %6, %157, %0 : i64
    %159 = arith.select %11, %157, %1 : i64
    %from_elements_29 = tensor.from_elements %158, %159, %c16_i64 : tensor<3xi64>
    %reshape_30 = tensor.reshape %transposed_28(%from_elements_29) : (tensor<?x?x2x8xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    %160 = tensor.empty() : tensor<16x16xf32>
    %transposed_31 = linalg.transpose ins(%arg2 : tensor<16x16xf32>) outs(%160 : tensor<16x16xf32>) permutation = [1, 0] 
    cf.assert %46, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %47, "unimplemented: dynamic negative broadcast sizes"
    %161 = tensor.empty(%dim, %dim_6) : tensor<?x?x16xf32>
    %162 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel"]} outs(%161 : tensor<?x?x16xf32>) {
    ^bb0(%out: f32):
      %181 = linalg.index 0 : index
      %182 = linalg.index 1 : index
      %183 = linalg.index 2 : index
      %184 = arith.index_cast %158 : i64 to index
      %185 = arith.cmpi eq, %184, %c1 : index
      %186 = arith.select %185, %c0, %181 : index
      %187 = arith.index_cast %159 : i64 to index
      %188 = arith.cmpi eq, %187, %c1 : index
      %189 = arith.select %188, %c0, %182 : index
      %extracted = tensor.extract %reshape_30[%186, %189, %183] : tensor<?x?x16xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x?x16xf32>
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %163 = arith.muli %0, %1 : i64
    %164 = arith.muli %163, %c16_i64 : i64
    %165 = arith.divsi %164, %154 : i64
    %166 = arith.select %6, %165, %0 : i64
    %167 = arith.select %11, %165, %1 : i64
    %from_elements_32 = tensor.from_elements %166, %167, %c16_i64 : tensor<3xi64>
    %reshape_33 = tensor.reshape %162(%from_elements_32) : (tensor<?x?x16xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    cf.assert %46, "negative values not allowed in new dimensions"
    %168 = tensor.empty(%dim) : tensor<?x16x16xf32>
    %169 = linalg.generic {indexing_maps = [#map11, #map10], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_31 : tensor<16x16xf32>) outs(%168 : tensor<?x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x16x16xf32>
    %170 = arith.index_cast %166 : i64 to index
    %171 = arith.index_cast %167 : i64 to index
    %172 = arith.cmpi eq, %166, %0 : i64
    cf.assert %172, "mismatching contracting dimension"
    %173 = tensor.empty(%170, %171) : tensor<?x?x16xf32>
    %174 = linalg.fill ins(%cst : f32) outs(%173 : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    %175 = linalg.batch_matmul ins(%reshape_33, %169 : tensor<?x?x16xf32>, tensor<?x16x16xf32>) outs(%174 : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
    cf.assert %15, "must have at most one inferred (negative) dimension"
    %176 = arith.muli %166, %167 : i64
    %177 = arith.muli %176, %c16_i64 : i64
    %178 = arith.divsi %177, %154 : i64
    %179 = arith.select %6, %178, %0 : i64
    %180 = arith.select %11, %178, %1 : i64
    %from_elements_34 = tensor.from_elements %179, %180, %c16_i64 : tensor<3xi64>
    %reshape_35 = tensor.reshape %175(%from_elements_34) : (tensor<?x?x16xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    return %reshape_35 : tensor<?x?x16xf32>
  }
}
