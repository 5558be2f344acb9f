// open_llama_block: f32 2x4x16, f32 16x32, f32 2x16x16, f32 32x16, f32 2x16x24, f32 24x16, f32 2x2x6x8, f32 2x2x6x8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map9 = affine_map<()[s0, s1] -> (s0 + s1)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1) -> (0, d1)>
#map12 = affine_map<(d0, d1, d2, d3) -> ()>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<?x?x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<2x16x16xf32>, %arg3: tensor<32x16xf32>, %arg4: tensor<2x16x24xf32>, %arg5: tensor<24x16xf32>, %arg6: tensor<?x2x?x8xf32>, %arg7: tensor<?x2x?x8xf32>) -> (tensor<?x?x16xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) {
    %c8_i64 = arith.constant 8 : i64
    %c4_i64 = arith.constant 4 : i64
    %c16_i64 = arith.constant 16 : i64
    %c2_i64 = arith.constant 2 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c32_i64 = arith.constant 32 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %c24_i64 = arith.constant 24 : i64
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %cst_4 = arith.constant 9.9999999999999995E-7 : f64
    %cst_5 = arith.constant 1.600000e+01 : f32
    %cst_6 = arith.constant 8.000000e+00 : f32
    %cst_7 = arith.constant 1.000000e+04 : f32
    %cst_8 = arith.constant 2.500000e-01 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x16xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_9 = tensor.dim %arg0, %c1 : tensor<?x?x16xf32>
    %1 = arith.index_cast %dim_9 : index to i64
    %dim_10 = tensor.dim %arg7, %c2 : tensor<?x2x?x8xf32>
    %2 = arith.index_cast %dim_10 : index to i64
    %3 = tensor.empty(%dim, %dim_9) : tensor<?x?x16xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<?x?x16xf32>) outs(%3 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %267 : f32
    } -> tensor<?x?x16xf32>
    %5 = tensor.empty(%dim, %dim_9) : tensor<?x?x1xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%4 : tensor<?x?x16xf32>) outs(%6 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.addf %in, %out : f32
      linalg.yield %267 : f32
    } -> tensor<?x?x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<?x?x1xf32>) outs(%5 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.divf %in, %cst_5 : f32
      linalg.yield %267 : f32
    } -> tensor<?x?x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<?x?x1xf32>) outs(%5 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.truncf %cst_4 : f64 to f32
      %268 = arith.addf %in, %267 : f32
      linalg.yield %268 : f32
    } -> tensor<?x?x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<?x?x1xf32>) outs(%5 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.rsqrt %in : f32
      linalg.yield %267 : f32
    } -> tensor<?x?x1xf32>
    %11 = tensor.empty(%dim) : tensor<?x1x16xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %10 : tensor<?x?x16xf32>, tensor<?x?x1xf32>) outs(%11 : tensor<?x1x16xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x16xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %cst_3 : tensor<?x1x16xf32>, tensor<16xf32>) outs(%11 : tensor<?x1x16xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x16xf32>
    %collapsed = tensor.collapse_shape %13 [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
    %14 = tensor.empty(%dim) : tensor<?x32xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %16 = linalg.matmul ins(%collapsed, %arg1 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%15 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %17 = arith.cmpi slt, %0, %c0_i64 : i64
    %18 = arith.select %17, %c1_i64, %0 : i64
    %19 = arith.extui %17 : i1 to i64
    %20 = arith.muli %18, %1 : i64
    %21 = arith.addi %19, %c1_i64 : i64
    %22 = arith.cmpi slt, %1, %c0_i64 : i64
    %23 = arith.select %22, %18, %20 : i64
    %24 = arith.select %22, %21, %19 : i64
    %25 = arith.muli %23, %c32_i64 : i64
    %26 = arith.cmpi sle, %24, %c1_i64 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %27 = arith.muli %0, %c32_i64 : i64
    %28 = arith.divsi %27, %25 : i64
    %29 = arith.select %17, %28, %0 : i64
    %30 = arith.select %22, %28, %1 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %31 = arith.muli %29, %30 : i64
    %32 = arith.muli %31, %c32_i64 : i64
    %33 = arith.divsi %32, %25 : i64
    %34 = arith.select %17, %33, %0 : i64
    %35 = arith.select %22, %33, %1 : i64
    %from_elements = tensor.from_elements %34, %35, %c4_i64, %c8_i64 : tensor<4xi64>
    %reshape = tensor.reshape %16(%from_elements) : (tensor<?x32xf32>, tensor<4xi64>) -> tensor<?x?x4x8xf32>
    %36 = arith.index_cast %34 : i64 to index
    %37 = arith.index_cast %35 : i64 to index
    %38 = tensor.empty(%36, %37) : tensor<?x4x?x8xf32>
    %transposed = linalg.transpose ins(%reshape : tensor<?x?x4x8xf32>) outs(%38 : tensor<?x4x?x8xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice = tensor.extract_slice %arg2[0, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<2x16x16xf32> to tensor<1x16x16xf32>
    %extracted_slice_11 = tensor.extract_slice %arg2[1, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<2x16x16xf32> to tensor<1x16x16xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x16x16xf32> into tensor<16x16xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2]] : tensor<1x16x16xf32> into tensor<16x16xf32>
    %39 = tensor.empty(%dim) : tensor<?x16xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %41 = linalg.matmul ins(%collapsed, %collapsed_12 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%40 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %42 = arith.muli %23, %c16_i64 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %43 = arith.muli %0, %c16_i64 : i64
    %44 = arith.divsi %43, %42 : i64
    %45 = arith.select %17, %44, %0 : i64
    %46 = arith.select %22, %44, %1 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %47 = arith.muli %45, %46 : i64
    %48 = arith.muli %47, %c16_i64 : i64
    %49 = arith.divsi %48, %42 : i64
    %50 = arith.select %17, %49, %0 : i64
    %51 = arith.select %22, %49, %1 : i64
    %from_elements_14 = tensor.from_elements %50, %51, %c2_i64, %c8_i64 : tensor<4xi64>
    %reshape_15 = tensor.reshape %41(%from_elements_14) : (tensor<?x16xf32>, tensor<4xi64>) -> tensor<?x?x2x8xf32>
    %52 = arith.index_cast %50 : i64 to index
    %53 = arith.index_cast %51 : i64 to index
    %54 = tensor.empty(%52, %53) : tensor<?x2x?x8xf32>
    %transposed_16 = linalg.transpose ins(%reshape_15 : tensor<?x?x2x8xf32>) outs(%54 : tensor<?x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %55 = linalg.matmul ins(%collapsed, %collapsed_13 : tensor<?x16xf32>, tensor<16x16xf32>) outs(%40 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %26, "must have at most one inferred (negative) dimension"
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %reshape_17 = tensor.reshape %55(%from_elements_14) : (tensor<?x16xf32>, tensor<4xi64>) -> tensor<?x?x2x8xf32>
    %transposed_18 = linalg.transpose ins(%reshape_17 : tensor<?x?x2x8xf32>) outs(%54 : tensor<?x2x?x8xf32>) permutation = [0, 2, 1, 3] 
    %56 = tensor.empty(%dim_9) : tensor<?xi64>
    %57 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%56 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %267 = linalg.index 0 : index
      %268 = arith.index_cast %267 : index to i64
      linalg.yield %268 : i64
    } -> tensor<?xi64>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%57 : tensor<?xi64>) outs(%56 : tensor<?xi64>) {
    ^bb0(%in: i64, %out: i64):
      %267 = arith.addi %in, %2 : i64
      linalg.yield %267 : i64
    } -> tensor<?xi64>
    %expanded = tensor.expand_shape %58 [[0, 1]] output_shape [%dim_9, 1] : tensor<?xi64> into tensor<?x1xi64>
    %59 = tensor.empty(%dim_9) : tensor<?x1xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<?x1xi64>) outs(%59 : tensor<?x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %267 = arith.sitofp %in : i64 to f32
      linalg.yield %267 : f32
    } -> tensor<?x1xf32>
    %61 = tensor.empty() : tensor<4xi64>
    %62 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%61 : tensor<4xi64>) {
    ^bb0(%out: i64):
      %267 = linalg.index 0 : index
      %268 = arith.index_cast %267 : index to i64
      %269 = arith.muli %268, %c2_i64 : i64
      linalg.yield %269 : i64
    } -> tensor<4xi64>
    %63 = tensor.empty() : tensor<4xf32>
    %64 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%62 : tensor<4xi64>) outs(%63 : tensor<4xf32>) {
    ^bb0(%in: i64, %out: f32):
      %267 = arith.sitofp %in : i64 to f32
      linalg.yield %267 : f32
    } -> tensor<4xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%64 : tensor<4xf32>) outs(%63 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.divf %in, %cst_6 : f32
      linalg.yield %267 : f32
    } -> tensor<4xf32>
    %66 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%65 : tensor<4xf32>) outs(%63 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.powf %cst_7, %in : f32
      linalg.yield %267 : f32
    } -> tensor<4xf32>
    %67 = tensor.empty(%dim_9) : tensor<?x4xf32>
    %68 = linalg.generic {indexing_maps = [#map5, #map6, #map4], iterator_types = ["parallel", "parallel"]} ins(%60, %66 : tensor<?x1xf32>, tensor<4xf32>) outs(%67 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.divf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4xf32>
    %extracted_slice_19 = tensor.extract_slice %transposed_16[0, 0, 0, 0] [%52, 2, %53, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_16[0, 0, 0, 4] [%52, 2, %53, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%68 : tensor<?x4xf32>) outs(%67 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.cos %in : f32
      linalg.yield %267 : f32
    } -> tensor<?x4xf32>
    %70 = arith.cmpi eq, %53, %dim_9 : index
    cf.assert %70, "mismatched size for broadcast"
    %71 = tensor.empty(%52, %53) : tensor<?x2x?x4xf32>
    %72 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19, %69 : tensor<?x2x?x4xf32>, tensor<?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%68 : tensor<?x4xf32>) outs(%67 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.sin %in : f32
      linalg.yield %267 : f32
    } -> tensor<?x4xf32>
    cf.assert %70, "mismatched size for broadcast"
    %74 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %73 : tensor<?x2x?x4xf32>, tensor<?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    %75 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %74 : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.subf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    cf.assert %70, "mismatched size for broadcast"
    %76 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_19, %73 : tensor<?x2x?x4xf32>, tensor<?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    cf.assert %70, "mismatched size for broadcast"
    %77 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %69 : tensor<?x2x?x4xf32>, tensor<?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    %78 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76, %77 : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) outs(%71 : tensor<?x2x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.addf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x2x?x4xf32>
    %concat = tensor.concat dim(3) %75, %78 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x8xf32>
    %concat_21 = tensor.concat dim(2) %arg6, %concat : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
    %concat_22 = tensor.concat dim(2) %arg7, %transposed_18 : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
    %dim_23 = tensor.dim %arg6, %c0 : tensor<?x2x?x8xf32>
    %dim_24 = tensor.dim %arg6, %c2 : tensor<?x2x?x8xf32>
    %dim_25 = tensor.dim %concat, %c2 : tensor<?x2x?x8xf32>
    %79 = affine.apply #map9()[%dim_24, %dim_25]
    %expanded_26 = tensor.expand_shape %concat_21 [[0], [1], [2, 3], [4]] output_shape [%dim_23, 2, 1, %79, 8] : tensor<?x2x?x8xf32> into tensor<?x2x1x?x8xf32>
    %80 = arith.addi %2, %1 : i64
    %81 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    %82 = arith.index_cast %80 : i64 to index
    %83 = arith.cmpi sge, %80, %c0_i64 : i64
    cf.assert %83, "unimplemented: dynamic negative broadcast sizes"
    %84 = tensor.empty(%dim, %82) : tensor<?x2x2x?x8xf32>
    %85 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%84 : tensor<?x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 3 : index
      %270 = linalg.index 4 : index
      %271 = arith.cmpi eq, %dim_23, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %79, %c1 : index
      %274 = arith.select %273, %c0, %269 : index
      %extracted = tensor.extract %expanded_26[%272, %268, %c0, %274, %270] : tensor<?x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x2x?x8xf32>
    %86 = arith.muli %18, %c4_i64 : i64
    %87 = arith.muli %86, %80 : i64
    %88 = arith.cmpi slt, %80, %c0_i64 : i64
    %89 = arith.select %88, %86, %87 : i64
    %90 = arith.select %88, %21, %19 : i64
    %91 = arith.muli %89, %c8_i64 : i64
    %92 = arith.cmpi sle, %90, %c1_i64 : i64
    cf.assert %92, "must have at most one inferred (negative) dimension"
    %93 = arith.muli %0, %c4_i64 : i64
    %94 = arith.muli %93, %80 : i64
    %95 = arith.muli %94, %c8_i64 : i64
    %96 = arith.divsi %95, %91 : i64
    %97 = arith.select %17, %96, %0 : i64
    %98 = arith.select %88, %96, %80 : i64
    %from_elements_27 = tensor.from_elements %97, %c4_i64, %98, %c8_i64 : tensor<4xi64>
    %reshape_28 = tensor.reshape %85(%from_elements_27) : (tensor<?x2x2x?x8xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
    %dim_29 = tensor.dim %arg7, %c0 : tensor<?x2x?x8xf32>
    %dim_30 = tensor.dim %transposed_18, %c2 : tensor<?x2x?x8xf32>
    %99 = affine.apply #map9()[%dim_10, %dim_30]
    %expanded_31 = tensor.expand_shape %concat_22 [[0], [1], [2, 3], [4]] output_shape [%dim_29, 2, 1, %99, 8] : tensor<?x2x?x8xf32> into tensor<?x2x1x?x8xf32>
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %83, "unimplemented: dynamic negative broadcast sizes"
    %100 = linalg.generic {indexing_maps = [#map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%84 : tensor<?x2x2x?x8xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 3 : index
      %270 = linalg.index 4 : index
      %271 = arith.cmpi eq, %dim_29, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %99, %c1 : index
      %274 = arith.select %273, %c0, %269 : index
      %extracted = tensor.extract %expanded_31[%272, %268, %c0, %274, %270] : tensor<?x2x1x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x2x2x?x8xf32>
    cf.assert %92, "must have at most one inferred (negative) dimension"
    %reshape_32 = tensor.reshape %100(%from_elements_27) : (tensor<?x2x2x?x8xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
    %extracted_slice_33 = tensor.extract_slice %transposed[0, 0, 0, 0] [%36, 4, %37, 4] [1, 1, 1, 1] : tensor<?x4x?x8xf32> to tensor<?x4x?x4xf32>
    %extracted_slice_34 = tensor.extract_slice %transposed[0, 0, 0, 4] [%36, 4, %37, 4] [1, 1, 1, 1] : tensor<?x4x?x8xf32> to tensor<?x4x?x4xf32>
    %101 = arith.cmpi eq, %37, %dim_9 : index
    cf.assert %101, "mismatched size for broadcast"
    %102 = tensor.empty(%36, %37) : tensor<?x4x?x4xf32>
    %103 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_33, %69 : tensor<?x4x?x4xf32>, tensor<?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    cf.assert %101, "mismatched size for broadcast"
    %104 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_34, %73 : tensor<?x4x?x4xf32>, tensor<?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    %105 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%103, %104 : tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.subf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    cf.assert %101, "mismatched size for broadcast"
    %106 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_33, %73 : tensor<?x4x?x4xf32>, tensor<?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    cf.assert %101, "mismatched size for broadcast"
    %107 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_34, %69 : tensor<?x4x?x4xf32>, tensor<?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    %108 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%106, %107 : tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>) outs(%102 : tensor<?x4x?x4xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.addf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x4xf32>
    %concat_35 = tensor.concat dim(3) %105, %108 : (tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>) -> tensor<?x4x?x8xf32>
    %dim_36 = tensor.dim %105, %c0 : tensor<?x4x?x4xf32>
    %dim_37 = tensor.dim %105, %c2 : tensor<?x4x?x4xf32>
    %109 = tensor.empty(%dim_36, %dim_37) : tensor<?x4x?x8xf32>
    %110 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%concat_35 : tensor<?x4x?x8xf32>) outs(%109 : tensor<?x4x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.mulf %in, %cst_8 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x8xf32>
    %111 = arith.index_cast %97 : i64 to index
    %112 = arith.index_cast %98 : i64 to index
    %113 = tensor.empty(%111, %112) : tensor<?x4x8x?xf32>
    %transposed_38 = linalg.transpose ins(%reshape_28 : tensor<?x4x?x8xf32>) outs(%113 : tensor<?x4x8x?xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    %114 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %114, "unimplemented: dynamic negative broadcast sizes"
    %115 = tensor.empty(%dim, %dim_9) : tensor<?x4x?x8xf32>
    %116 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%115 : tensor<?x4x?x8xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 2 : index
      %270 = linalg.index 3 : index
      %271 = arith.cmpi eq, %dim_36, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %dim_37, %c1 : index
      %274 = arith.select %273, %c0, %269 : index
      %extracted = tensor.extract %110[%272, %268, %274, %270] : tensor<?x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x4x?x8xf32>
    %117 = arith.cmpi slt, %93, %c0_i64 : i64
    %118 = arith.select %117, %c1_i64, %93 : i64
    %119 = arith.extui %117 : i1 to i64
    %120 = arith.muli %118, %1 : i64
    %121 = arith.addi %119, %c1_i64 : i64
    %122 = arith.select %22, %118, %120 : i64
    %123 = arith.select %22, %121, %119 : i64
    %124 = arith.muli %122, %c8_i64 : i64
    %125 = arith.cmpi sle, %123, %c1_i64 : i64
    cf.assert %125, "must have at most one inferred (negative) dimension"
    %126 = arith.muli %93, %1 : i64
    %127 = arith.muli %126, %c8_i64 : i64
    %128 = arith.divsi %127, %124 : i64
    %129 = arith.select %117, %128, %93 : i64
    %130 = arith.select %22, %128, %1 : i64
    %from_elements_39 = tensor.from_elements %129, %130, %c8_i64 : tensor<3xi64>
    %reshape_40 = tensor.reshape %116(%from_elements_39) : (tensor<?x4x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %83, "unimplemented: dynamic negative broadcast sizes"
    %131 = tensor.empty(%dim, %82) : tensor<?x4x8x?xf32>
    %132 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%131 : tensor<?x4x8x?xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 2 : index
      %270 = linalg.index 3 : index
      %271 = arith.cmpi eq, %111, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %112, %c1 : index
      %274 = arith.select %273, %c0, %270 : index
      %extracted = tensor.extract %transposed_38[%272, %268, %269, %274] : tensor<?x4x8x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x4x8x?xf32>
    %133 = arith.muli %118, %c8_i64 : i64
    %134 = arith.muli %133, %80 : i64
    %135 = arith.select %88, %133, %134 : i64
    %136 = arith.select %88, %121, %119 : i64
    %137 = arith.cmpi sle, %136, %c1_i64 : i64
    cf.assert %137, "must have at most one inferred (negative) dimension"
    %138 = arith.muli %0, %c32_i64 : i64
    %139 = arith.muli %138, %80 : i64
    %140 = arith.divsi %139, %135 : i64
    %141 = arith.select %117, %140, %93 : i64
    %142 = arith.select %88, %140, %80 : i64
    %from_elements_41 = tensor.from_elements %141, %c8_i64, %142 : tensor<3xi64>
    %reshape_42 = tensor.reshape %132(%from_elements_41) : (tensor<?x4x8x?xf32>, tensor<3xi64>) -> tensor<?x8x?xf32>
    %143 = arith.index_cast %129 : i64 to index
    %144 = arith.index_cast %130 : i64 to index
    %145 = arith.index_cast %142 : i64 to index
    %146 = arith.cmpi eq, %129, %141 : i64
    cf.assert %146, "mismatching contracting dimension"
    %147 = tensor.empty(%143, %144, %145) : tensor<?x?x?xf32>
    %148 = linalg.fill ins(%cst : f32) outs(%147 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %149 = linalg.batch_matmul ins(%reshape_40, %reshape_42 : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%148 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %150 = arith.muli %86, %1 : i64
    %151 = arith.select %22, %86, %150 : i64
    %152 = arith.muli %151, %80 : i64
    %153 = arith.addi %24, %c1_i64 : i64
    %154 = arith.select %88, %151, %152 : i64
    %155 = arith.select %88, %153, %24 : i64
    %156 = arith.cmpi sle, %155, %c1_i64 : i64
    cf.assert %156, "must have at most one inferred (negative) dimension"
    %157 = arith.muli %129, %130 : i64
    %158 = arith.muli %157, %142 : i64
    %159 = arith.divsi %158, %154 : i64
    %160 = arith.select %17, %159, %0 : i64
    %161 = arith.select %22, %159, %1 : i64
    %162 = arith.select %88, %159, %80 : i64
    %from_elements_43 = tensor.from_elements %160, %c4_i64, %161, %162 : tensor<4xi64>
    %reshape_44 = tensor.reshape %149(%from_elements_43) : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x4x?x?xf32>
    %163 = tensor.empty(%82) : tensor<?xi64>
    %164 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%163 : tensor<?xi64>) {
    ^bb0(%out: i64):
      %267 = linalg.index 0 : index
      %268 = arith.index_cast %267 : index to i64
      linalg.yield %268 : i64
    } -> tensor<?xi64>
    %expanded_45 = tensor.expand_shape %164 [[0, 1]] output_shape [1, %82] : tensor<?xi64> into tensor<1x?xi64>
    %165 = tensor.empty(%dim_9, %82) : tensor<?x?xi1>
    %166 = linalg.generic {indexing_maps = [#map11, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded_45, %expanded : tensor<1x?xi64>, tensor<?x1xi64>) outs(%165 : tensor<?x?xi1>) {
    ^bb0(%in: i64, %in_77: i64, %out: i1):
      %267 = arith.cmpi sgt, %in, %in_77 : i64
      linalg.yield %267 : i1
    } -> tensor<?x?xi1>
    %167 = arith.index_cast %160 : i64 to index
    %168 = arith.index_cast %161 : i64 to index
    %169 = arith.cmpi eq, %dim_9, %168 : index
    cf.assert %169, "mismatched size for broadcast"
    %170 = arith.index_cast %162 : i64 to index
    %171 = arith.cmpi eq, %82, %170 : index
    cf.assert %171, "mismatched size for broadcast"
    %172 = tensor.empty(%167, %dim_9, %82) : tensor<?x4x?x?xf32>
    %173 = linalg.generic {indexing_maps = [#map8, #map12, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%166, %cst_2, %reshape_44 : tensor<?x?xi1>, tensor<f32>, tensor<?x4x?x?xf32>) outs(%172 : tensor<?x4x?x?xf32>) {
    ^bb0(%in: i1, %in_77: f32, %in_78: f32, %out: f32):
      %267 = arith.select %in, %in_77, %in_78 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x?xf32>
    %174 = tensor.empty(%167, %dim_9) : tensor<?x4x?xi64>
    %175 = linalg.fill ins(%c0_i64 : i64) outs(%174 : tensor<?x4x?xi64>) -> tensor<?x4x?xi64>
    %176 = tensor.empty(%167, %dim_9) : tensor<?x4x?xf32>
    %177 = linalg.fill ins(%cst_0 : f32) outs(%176 : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
    %178:2 = linalg.generic {indexing_maps = [#map7, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%173 : tensor<?x4x?x?xf32>) outs(%177, %175 : tensor<?x4x?xf32>, tensor<?x4x?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_77: i64):
      %267 = linalg.index 3 : index
      %268 = arith.index_cast %267 : index to i64
      %269 = arith.maximumf %in, %out : f32
      %270 = arith.cmpf ogt, %in, %out : f32
      %271 = arith.select %270, %268, %out_77 : i64
      linalg.yield %269, %271 : f32, i64
    } -> (tensor<?x4x?xf32>, tensor<?x4x?xi64>)
    %expanded_46 = tensor.expand_shape %178#0 [[0], [1], [2, 3]] output_shape [%167, 4, %dim_9, 1] : tensor<?x4x?xf32> into tensor<?x4x?x1xf32>
    %179 = linalg.generic {indexing_maps = [#map7, #map14, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%173, %expanded_46 : tensor<?x4x?x?xf32>, tensor<?x4x?x1xf32>) outs(%172 : tensor<?x4x?x?xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.subf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x?xf32>
    %180 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%179 : tensor<?x4x?x?xf32>) outs(%172 : tensor<?x4x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = math.exp %in : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x?xf32>
    %181 = tensor.empty(%167, %dim_9) : tensor<?x4x?x1xf32>
    %182 = linalg.fill ins(%cst : f32) outs(%181 : tensor<?x4x?x1xf32>) -> tensor<?x4x?x1xf32>
    %183 = linalg.generic {indexing_maps = [#map7, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%180 : tensor<?x4x?x?xf32>) outs(%182 : tensor<?x4x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.addf %in, %out : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x1xf32>
    %184 = linalg.generic {indexing_maps = [#map7, #map14, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%180, %183 : tensor<?x4x?x?xf32>, tensor<?x4x?x1xf32>) outs(%172 : tensor<?x4x?x?xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.divf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x4x?x?xf32>
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %114, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %83, "unimplemented: dynamic negative broadcast sizes"
    %185 = tensor.empty(%dim, %dim_9, %82) : tensor<?x4x?x?xf32>
    %186 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%185 : tensor<?x4x?x?xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 2 : index
      %270 = linalg.index 3 : index
      %271 = arith.cmpi eq, %167, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %dim_9, %c1 : index
      %274 = arith.select %273, %c0, %269 : index
      %275 = arith.cmpi eq, %82, %c1 : index
      %276 = arith.select %275, %c0, %270 : index
      %extracted = tensor.extract %184[%272, %268, %274, %276] : tensor<?x4x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x4x?x?xf32>
    %187 = arith.muli %122, %80 : i64
    %188 = arith.addi %123, %c1_i64 : i64
    %189 = arith.select %88, %122, %187 : i64
    %190 = arith.select %88, %188, %123 : i64
    %191 = arith.cmpi sle, %190, %c1_i64 : i64
    cf.assert %191, "must have at most one inferred (negative) dimension"
    %192 = arith.muli %126, %80 : i64
    %193 = arith.divsi %192, %189 : i64
    %194 = arith.select %117, %193, %93 : i64
    %195 = arith.select %22, %193, %1 : i64
    %196 = arith.select %88, %193, %80 : i64
    %from_elements_47 = tensor.from_elements %194, %195, %196 : tensor<3xi64>
    %reshape_48 = tensor.reshape %186(%from_elements_47) : (tensor<?x4x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    cf.assert %81, "unimplemented: dynamic negative broadcast sizes"
    cf.assert %83, "unimplemented: dynamic negative broadcast sizes"
    %197 = tensor.empty(%dim, %82) : tensor<?x4x?x8xf32>
    %198 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%197 : tensor<?x4x?x8xf32>) {
    ^bb0(%out: f32):
      %267 = linalg.index 0 : index
      %268 = linalg.index 1 : index
      %269 = linalg.index 2 : index
      %270 = linalg.index 3 : index
      %271 = arith.cmpi eq, %111, %c1 : index
      %272 = arith.select %271, %c0, %267 : index
      %273 = arith.cmpi eq, %112, %c1 : index
      %274 = arith.select %273, %c0, %269 : index
      %extracted = tensor.extract %reshape_32[%272, %268, %274, %270] : tensor<?x4x?x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x4x?x8xf32>
    %199 = arith.muli %118, %80 : i64
    %200 = arith.select %88, %118, %199 : i64
    %201 = arith.muli %200, %c8_i64 : i64
    cf.assert %137, "must have at most one inferred (negative) dimension"
    %202 = arith.divsi %95, %201 : i64
    %203 = arith.select %117, %202, %93 : i64
    %204 = arith.select %88, %202, %80 : i64
    %from_elements_49 = tensor.from_elements %203, %204, %c8_i64 : tensor<3xi64>
    %reshape_50 = tensor.reshape %198(%from_elements_49) : (tensor<?x4x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
    %205 = arith.index_cast %194 : i64 to index
    %206 = arith.index_cast %195 : i64 to index
    %207 = arith.cmpi eq, %194, %203 : i64
    cf.assert %207, "mismatching contracting dimension"
    %208 = arith.cmpi eq, %196, %204 : i64
    cf.assert %208, "mismatching contracting dimension"
    %209 = tensor.empty(%205, %206) : tensor<?x?x8xf32>
    %210 = linalg.fill ins(%cst : f32) outs(%209 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %211 = linalg.batch_matmul ins(%reshape_48, %reshape_50 : tensor<?x?x?xf32>, tensor<?x?x8xf32>) outs(%210 : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %212 = arith.muli %151, %c8_i64 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %213 = arith.muli %194, %195 : i64
    %214 = arith.muli %213, %c8_i64 : i64
    %215 = arith.divsi %214, %212 : i64
    %216 = arith.select %17, %215, %0 : i64
    %217 = arith.select %22, %215, %1 : i64
    %from_elements_51 = tensor.from_elements %216, %c4_i64, %217, %c8_i64 : tensor<4xi64>
    %reshape_52 = tensor.reshape %211(%from_elements_51) : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
    %218 = arith.index_cast %216 : i64 to index
    %219 = arith.index_cast %217 : i64 to index
    %220 = tensor.empty(%218, %219) : tensor<?x?x4x8xf32>
    %transposed_53 = linalg.transpose ins(%reshape_52 : tensor<?x4x?x8xf32>) outs(%220 : tensor<?x?x4x8xf32>) permutation = [0, 2, 1, 3] 
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %221 = arith.muli %216, %217 : i64
    %222 = arith.muli %221, %c32_i64 : i64
    %223 = arith.divsi %222, %25 : i64
    %224 = arith.select %17, %223, %0 : i64
    %225 = arith.select %22, %223, %1 : i64
    %from_elements_54 = tensor.from_elements %224, %225, %c32_i64 : tensor<3xi64>
    %reshape_55 = tensor.reshape %transposed_53(%from_elements_54) : (tensor<?x?x4x8xf32>, tensor<3xi64>) -> tensor<?x?x32xf32>
    %cast = tensor.cast %reshape_55 : tensor<?x?x32xf32> to tensor<?x1x32xf32>
    %collapsed_56 = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %226 = arith.index_cast %224 : i64 to index
    %227 = tensor.empty(%226) : tensor<?x16xf32>
    %228 = linalg.fill ins(%cst : f32) outs(%227 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %229 = linalg.matmul ins(%collapsed_56, %arg3 : tensor<?x32xf32>, tensor<32x16xf32>) outs(%228 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %230 = arith.muli %224, %c16_i64 : i64
    %231 = arith.divsi %230, %42 : i64
    %232 = arith.select %17, %231, %0 : i64
    %233 = arith.select %22, %231, %1 : i64
    %from_elements_57 = tensor.from_elements %232, %233, %c16_i64 : tensor<3xi64>
    %reshape_58 = tensor.reshape %229(%from_elements_57) : (tensor<?x16xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    %234 = arith.index_cast %232 : i64 to index
    %235 = arith.cmpi eq, %dim, %234 : index
    cf.assert %235, "mismatched size for broadcast"
    %236 = arith.index_cast %233 : i64 to index
    %237 = arith.cmpi eq, %dim_9, %236 : index
    cf.assert %237, "mismatched size for broadcast"
    %cast_59 = tensor.cast %arg0 : tensor<?x?x16xf32> to tensor<?x1x16xf32>
    %cast_60 = tensor.cast %reshape_58 : tensor<?x?x16xf32> to tensor<?x1x16xf32>
    %238 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_59, %cast_60 : tensor<?x1x16xf32>, tensor<?x1x16xf32>) outs(%11 : tensor<?x1x16xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.addf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x16xf32>
    %extracted_slice_61 = tensor.extract_slice %arg4[0, 0, 0] [1, 16, 24] [1, 1, 1] : tensor<2x16x24xf32> to tensor<1x16x24xf32>
    %collapsed_62 = tensor.collapse_shape %extracted_slice_61 [[0, 1], [2]] : tensor<1x16x24xf32> into tensor<16x24xf32>
    %collapsed_63 = tensor.collapse_shape %238 [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
    %dim_64 = tensor.dim %arg0, %c0 : tensor<?x?x16xf32>
    %239 = tensor.empty(%dim_64) : tensor<?x24xf32>
    %240 = linalg.fill ins(%cst : f32) outs(%239 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %241 = linalg.matmul ins(%collapsed_63, %collapsed_62 : tensor<?x16xf32>, tensor<16x24xf32>) outs(%240 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %242 = arith.muli %23, %c24_i64 : i64
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %243 = arith.index_cast %dim_64 : index to i64
    %244 = arith.muli %243, %c24_i64 : i64
    %245 = arith.divsi %244, %242 : i64
    %246 = arith.select %17, %245, %0 : i64
    %247 = arith.select %22, %245, %1 : i64
    %from_elements_65 = tensor.from_elements %246, %247, %c24_i64 : tensor<3xi64>
    %reshape_66 = tensor.reshape %241(%from_elements_65) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    %248 = arith.index_cast %246 : i64 to index
    %249 = tensor.empty(%248) : tensor<?x1x24xf32>
    %cast_67 = tensor.cast %reshape_66 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %250 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_67 : tensor<?x1x24xf32>) outs(%249 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %267 = arith.negf %in : f32
      %268 = math.exp %267 : f32
      %269 = arith.addf %268, %cst_1 : f32
      %270 = arith.divf %cst_1, %269 : f32
      linalg.yield %270 : f32
    } -> tensor<?x1x24xf32>
    %251 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_67, %250 : tensor<?x1x24xf32>, tensor<?x1x24xf32>) outs(%249 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x24xf32>
    %extracted_slice_68 = tensor.extract_slice %arg4[1, 0, 0] [1, 16, 24] [1, 1, 1] : tensor<2x16x24xf32> to tensor<1x16x24xf32>
    %collapsed_69 = tensor.collapse_shape %extracted_slice_68 [[0, 1], [2]] : tensor<1x16x24xf32> into tensor<16x24xf32>
    %252 = linalg.matmul ins(%collapsed_63, %collapsed_69 : tensor<?x16xf32>, tensor<16x24xf32>) outs(%240 : tensor<?x24xf32>) -> tensor<?x24xf32>
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %reshape_70 = tensor.reshape %252(%from_elements_65) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    %cast_71 = tensor.cast %reshape_70 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
    %253 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%251, %cast_71 : tensor<?x1x24xf32>, tensor<?x1x24xf32>) outs(%249 : tensor<?x1x24xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.mulf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x24xf32>
    %collapsed_72 = tensor.collapse_shape %253 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
    %254 = arith.index_cast %246 : i64 to index
    %255 = tensor.empty(%254) : tensor<?x16xf32>
    %256 = linalg.fill ins(%cst : f32) outs(%255 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %257 = linalg.matmul ins(%collapsed_72, %arg5 : tensor<?x24xf32>, tensor<24x16xf32>) outs(%256 : tensor<?x16xf32>) -> tensor<?x16xf32>
    cf.assert %26, "must have at most one inferred (negative) dimension"
    %258 = arith.muli %246, %c16_i64 : i64
    %259 = arith.divsi %258, %42 : i64
    %260 = arith.select %17, %259, %0 : i64
    %261 = arith.select %22, %259, %1 : i64
    %from_elements_73 = tensor.from_elements %260, %261, %c16_i64 : tensor<3xi64>
    %reshape_74 = tensor.reshape %257(%from_elements_73) : (tensor<?x16xf32>, tensor<3xi64>) -> tensor<?x?x16xf32>
    %262 = arith.index_cast %260 : i64 to index
    %263 = arith.cmpi eq, %dim, %262 : index
    cf.assert %263, "mismatched size for broadcast"
    %264 = arith.index_cast %261 : i64 to index
    %265 = arith.cmpi eq, %264, %c1 : index
    cf.assert %265, "mismatched size for broadcast"
    %cast_75 = tensor.cast %reshape_74 : tensor<?x?x16xf32> to tensor<?x1x16xf32>
    %266 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%238, %cast_75 : tensor<?x1x16xf32>, tensor<?x1x16xf32>) outs(%11 : tensor<?x1x16xf32>) {
    ^bb0(%in: f32, %in_77: f32, %out: f32):
      %267 = arith.addf %in, %in_77 : f32
      linalg.yield %267 : f32
    } -> tensor<?x1x16xf32>
    %cast_76 = tensor.cast %266 : tensor<?x1x16xf32> to tensor<?x?x16xf32>
    return %cast_76, %concat_21, %concat_22 : tensor<?x?x16xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
  }
}
