// open_tables: f16 2x7x24, f16 160x24, f16 160x160
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @main(%arg0: tensor<?x?x24xf16>, %arg1: tensor<160x24xf16>, %arg2: tensor<160x160xf16>) -> tensor<?x?x24xf16> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %c160 = arith.constant 160 : index
    %c24_i64 = arith.constant 24 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %0 = arith.index_cast %dim : index to i64
    %dim_1 = tensor.dim %arg0, %c1 : tensor<?x?x24xf16>
    %1 = arith.index_cast %dim_1 : index to i64
    %2 = arith.cmpi slt, %dim_1, %c0 : index
    %3 = arith.addi %dim_1, %c160 : index
    %4 = arith.select %2, %3, %dim_1 : index
    %5 = arith.cmpi slt, %4, %c0 : index
    %6 = arith.select %5, %c-1, %4 : index
    %7 = arith.minsi %6, %c160 : index
    %8 = arith.maxsi %7, %c0 : index
    %extracted_slice = tensor.extract_slice %arg1[0, 0] [%8, 24] [1, 1] : tensor<160x24xf16> to tensor<?x24xf16>
    %9 = arith.cmpi eq, %dim_1, %8 : index
    cf.assert %9, "mismatched size for broadcast"
    %10 = tensor.empty(%dim, %dim_1) : tensor<?x?x24xf16>
    %11 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %extracted_slice : tensor<?x?x24xf16>, tensor<?x24xf16>) outs(%10 : tensor<?x?x24xf16>) {
    ^bb0(%in: f16, %in_12: f16, %out: f16):
      %100 = arith.addf %in, %in_12 : f16
      linalg.yield %100 : f16
    } -> tensor<?x?x24xf16>
    %12 = tensor.empty(%dim, %dim_1) : tensor<?x24x?xf16>
    %transposed = linalg.transpose ins(%11 : tensor<?x?x24xf16>) outs(%12 : tensor<?x24x?xf16>) permutation = [0, 2, 1] 
    %13 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    %14 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %14, "unimplemented: dynamic negative broadcast sizes"
    %15 = tensor.empty(%dim, %dim_1) : tensor<?x?x24xf16>
    %16 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%15 : tensor<?x?x24xf16>) {
    ^bb0(%out: f16):
      %100 = linalg.index 0 : index
      %101 = linalg.index 1 : index
      %102 = linalg.index 2 : index
      %103 = arith.cmpi eq, %dim, %c1 : index
      %104 = arith.select %103, %c0, %100 : index
      %105 = arith.cmpi eq, %dim_1, %c1 : index
      %106 = arith.select %105, %c0, %101 : index
      %extracted = tensor.extract %11[%104, %106, %102] : tensor<?x?x24xf16>
      linalg.yield %extracted : f16
    } -> tensor<?x?x24xf16>
    %17 = arith.cmpi slt, %0, %c0_i64 : i64
    %18 = arith.select %17, %c1_i64, %0 : i64
    %19 = arith.extui %17 : i1 to i64
    %20 = arith.muli %18, %1 : i64
    %21 = arith.addi %19, %c1_i64 : i64
    %22 = arith.cmpi slt, %1, %c0_i64 : i64
    %23 = arith.select %22, %18, %20 : i64
    %24 = arith.select %22, %21, %19 : i64
    %25 = arith.muli %23, %c24_i64 : i64
    %26 = arith.cmpi sle, %24, %c1_i64 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %27 = arith.muli %0, %1 : i64
    %28 = arith.muli %27, %c24_i64 : i64
    %29 = arith.divsi %28, %25 : i64
    %30 = arith.select %17, %29, %0 : i64
    %31 = arith.select %22, %29, %1 : i64
    %from_elements = tensor.from_elements %30, %31, %c24_i64 : tensor<3xi64>
    %reshape = tensor.reshape %16(%from_elements) : (tensor<?x?x24xf16>, tensor<3xi64>) -> tensor<?x?x24xf16>
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %14, "unimplemented: dynamic negative broadcast sizes"
    %32 = tensor.empty(%dim, %dim_1) : tensor<?x24x?xf16>
    %33 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%32 : tensor<?x24x?xf16>) {
    ^bb0(%out: f16):
      %100 = linalg.index 0 : index
      %101 = linalg.index 1 : index
      %102 = linalg.index 2 : index
      %103 = arith.cmpi eq, %dim, %c1 : index
      %104 = arith.select %103, %c0, %100 : index
      %105 = arith.cmpi eq, %dim_1, %c1 : index
      %106 = arith.select %105, %c0, %102 : index
      %extracted = tensor.extract %transposed[%104, %101, %106] : tensor<?x24x?xf16>
      linalg.yield %extracted : f16
    } -> tensor<?x24x?xf16>
    %34 = arith.muli %18, %c24_i64 : i64
    %35 = arith.muli %34, %1 : i64
    %36 = arith.select %22, %34, %35 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %37 = arith.muli %0, %c24_i64 : i64
    %38 = arith.muli %37, %1 : i64
    %39 = arith.divsi %38, %36 : i64
    %40 = arith.select %17, %39, %0 : i64
    %41 = arith.select %22, %39, %1 : i64
    %from_elements_2 = tensor.from_elements %40, %c24_i64, %41 : tensor<3xi64>
    %reshape_3 = tensor.reshape %33(%from_elements_2) : (tensor<?x24x?xf16>, tensor<3xi64>) -> tensor<?x24x?xf16>
    %42 = arith.index_cast %30 : i64 to index
    %43 = arith.index_cast %31 : i64 to index
    %44 = arith.index_cast %41 : i64 to index
    %45 = arith.cmpi eq, %30, %40 : i64
    cf.assert %45, "mismatching contracting dimension"
    %46 = tensor.empty(%42, %43, %44) : tensor<?x?x?xf32>
    %47 = linalg.fill ins(%cst : f32) outs(%46 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %48 = linalg.batch_matmul ins(%reshape, %reshape_3 : tensor<?x?x24xf16>, tensor<?x24x?xf16>) outs(%47 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %49 = tensor.empty(%42, %43, %44) : tensor<?x?x?xf16>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<?x?x?xf32>) outs(%49 : tensor<?x?x?xf16>) {
    ^bb0(%in: f32, %out: f16):
      %100 = arith.truncf %in : f32 to f16
      linalg.yield %100 : f16
    } -> tensor<?x?x?xf16>
    %51 = arith.muli %23, %1 : i64
    %52 = arith.addi %24, %c1_i64 : i64
    %53 = arith.select %22, %18, %51 : i64
    %54 = arith.select %22, %52, %19 : i64
    %55 = arith.cmpi sle, %54, %c1_i64 : i64
    cf.assert %55, "must have at most one inferred (negative) dimension"
    %56 = arith.muli %30, %31 : i64
    %57 = arith.muli %56, %41 : i64
    %58 = arith.divsi %57, %53 : i64
    %59 = arith.select %17, %58, %0 : i64
    %60 = arith.select %22, %58, %1 : i64
    %from_elements_4 = tensor.from_elements %59, %60, %60 : tensor<3xi64>
    %reshape_5 = tensor.reshape %50(%from_elements_4) : (tensor<?x?x?xf16>, tensor<3xi64>) -> tensor<?x?x?xf16>
    %extracted_slice_6 = tensor.extract_slice %arg2[0, 0] [%8, 160] [1, 1] : tensor<160x160xf16> to tensor<?x160xf16>
    %extracted_slice_7 = tensor.extract_slice %extracted_slice_6[0, 0] [%8, %8] [1, 1] : tensor<?x160xf16> to tensor<?x?xf16>
    %61 = arith.index_cast %59 : i64 to index
    %62 = arith.index_cast %60 : i64 to index
    %63 = arith.cmpi eq, %62, %8 : index
    cf.assert %63, "mismatched size for broadcast"
    cf.assert %63, "mismatched size for broadcast"
    %64 = tensor.empty(%61, %62, %62) : tensor<?x?x?xf16>
    %65 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_5, %extracted_slice_7 : tensor<?x?x?xf16>, tensor<?x?xf16>) outs(%64 : tensor<?x?x?xf16>) {
    ^bb0(%in: f16, %in_12: f16, %out: f16):
      %100 = arith.addf %in, %in_12 : f16
      linalg.yield %100 : f16
    } -> tensor<?x?x?xf16>
    %66 = tensor.empty(%61, %62, %62) : tensor<?x?x?xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<?x?x?xf16>) outs(%66 : tensor<?x?x?xf32>) {
    ^bb0(%in: f16, %out: f32):
      %100 = arith.extf %in : f16 to f32
      linalg.yield %100 : f32
    } -> tensor<?x?x?xf32>
    %68 = tensor.empty(%61, %62) : tensor<?x?xi64>
    %69 = linalg.fill ins(%c0_i64 : i64) outs(%68 : tensor<?x?xi64>) -> tensor<?x?xi64>
    %70 = tensor.empty(%61, %62) : tensor<?x?xf32>
    %71 = linalg.fill ins(%cst_0 : f32) outs(%70 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %72:2 = linalg.generic {indexing_maps = [#map, #map2, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<?x?x?xf32>) outs(%71, %69 : tensor<?x?xf32>, tensor<?x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_12: i64):
      %100 = linalg.index 2 : index
      %101 = arith.index_cast %100 : index to i64
      %102 = arith.maximumf %in, %out : f32
      %103 = arith.cmpf ogt, %in, %out : f32
      %104 = arith.select %103, %101, %out_12 : i64
      linalg.yield %102, %104 : f32, i64
    } -> (tensor<?x?xf32>, tensor<?x?xi64>)
    %expanded = tensor.expand_shape %72#0 [[0], [1, 2]] output_shape [%61, %62, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %expanded : tensor<?x?x?xf32>, tensor<?x?x1xf32>) outs(%66 : tensor<?x?x?xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %100 = arith.subf %in, %in_12 : f32
      linalg.yield %100 : f32
    } -> tensor<?x?x?xf32>
    %74 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<?x?x?xf32>) outs(%66 : tensor<?x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.exp %in : f32
      linalg.yield %100 : f32
    } -> tensor<?x?x?xf32>
    %75 = tensor.empty(%61, %62) : tensor<?x?x1xf32>
    %76 = linalg.fill ins(%cst : f32) outs(%75 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%74 : tensor<?x?x?xf32>) outs(%76 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.addf %in, %out : f32
      linalg.yield %100 : f32
    } -> tensor<?x?x1xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %77 : tensor<?x?x?xf32>, tensor<?x?x1xf32>) outs(%66 : tensor<?x?x?xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %100 = arith.divf %in, %in_12 : f32
      linalg.yield %100 : f32
    } -> tensor<?x?x?xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<?x?x?xf32>) outs(%64 : tensor<?x?x?xf16>) {
    ^bb0(%in: f32, %out: f16):
      %100 = arith.truncf %in : f32 to f16
      linalg.yield %100 : f16
    } -> tensor<?x?x?xf16>
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %14, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %14, "unimplemented: dynamic negative broadcast sizes"
    %80 = tensor.empty(%dim, %dim_1, %dim_1) : tensor<?x?x?xf16>
    %81 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%80 : tensor<?x?x?xf16>) {
    ^bb0(%out: f16):
      %100 = linalg.index 0 : index
      %101 = linalg.index 1 : index
      %102 = linalg.index 2 : index
      %103 = arith.cmpi eq, %61, %c1 : index
      %104 = arith.select %103, %c0, %100 : index
      %105 = arith.cmpi eq, %62, %c1 : index
      %106 = arith.select %105, %c0, %101 : index
      %107 = arith.select %105, %c0, %102 : index
      %extracted = tensor.extract %79[%104, %106, %107] : tensor<?x?x?xf16>
      linalg.yield %extracted : f16
    } -> tensor<?x?x?xf16>
    cf.assert %55, "must have at most one inferred (negative) dimension"
    %82 = arith.muli %27, %1 : i64
    %83 = arith.divsi %82, %53 : i64
    %84 = arith.select %17, %83, %0 : i64
    %85 = arith.select %22, %83, %1 : i64
    %from_elements_8 = tensor.from_elements %84, %85, %85 : tensor<3xi64>
    %reshape_9 = tensor.reshape %81(%from_elements_8) : (tensor<?x?x?xf16>, tensor<3xi64>) -> tensor<?x?x?xf16>
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %14, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %86 = arith.index_cast %84 : i64 to index
    %87 = arith.index_cast %85 : i64 to index
    %88 = arith.cmpi eq, %84, %30 : i64
    cf.assert %88, "mismatching contracting dimension"
    %89 = arith.cmpi eq, %85, %31 : i64
    cf.assert %89, "mismatching contracting dimension"
    %90 = tensor.empty(%86, %87) : tensor<?x?x24xf32>
    %91 = linalg.fill ins(%cst : f32) outs(%90 : tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
    %92 = linalg.batch_matmul ins(%reshape_9, %reshape : tensor<?x?x?xf16>, tensor<?x?x24xf16>) outs(%91 : tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
    %93 = tensor.empty(%86, %87) : tensor<?x?x24xf16>
    %94 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<?x?x24xf32>) outs(%93 : tensor<?x?x24xf16>) {
    ^bb0(%in: f32, %out: f16):
      %100 = arith.truncf %in : f32 to f16
      linalg.yield %100 : f16
    } -> tensor<?x?x24xf16>
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %95 = arith.muli %84, %85 : i64
    %96 = arith.muli %95, %c24_i64 : i64
    %97 = arith.divsi %96, %25 : i64
    %98 = arith.select %17, %97, %0 : i64
    %99 = arith.select %22, %97, %1 : i64
    %from_elements_10 = tensor.from_elements %98, %99, %c24_i64 : tensor<3xi64>
    %reshape_11 = tensor.reshape %94(%from_elements_10) : (tensor<?x?x24xf16>, tensor<3xi64>) -> tensor<?x?x24xf16>
    return %reshape_11 : tensor<?x?x24xf16>
  }
}
