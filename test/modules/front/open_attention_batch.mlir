// open_attention_batch: f32 2x5x24, f32 24x24, f32 24x24, f32 24x24, f32 24x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<()[s0] -> (s0 * 5)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<()[s0] -> (s0 * 3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<?x5x24xf32>, %arg1: tensor<24x24xf32>, %arg2: tensor<24x24xf32>, %arg3: tensor<24x24xf32>, %arg4: tensor<24x24xf32>) -> tensor<?x5x24xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c3 = arith.constant 3 : index
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 3.500000e-01 : f64
    %dim = tensor.dim %arg0, %c0 : tensor<?x5x24xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty() : tensor<24x24xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<?x5x24xf32> into tensor<?x24xf32>
    %2 = affine.apply #map()[%dim]
    %3 = tensor.empty(%2) : tensor<?x24xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %6 = arith.divsi %2, %c5 : index
    %expanded = tensor.expand_shape %5 [[0, 1], [2, 3]] output_shape [%6, 5, 3, 8] : tensor<?x24xf32> into tensor<?x5x3x8xf32>
    %7 = tensor.empty(%6) : tensor<?x3x5x8xf32>
    %transposed_2 = linalg.transpose ins(%expanded : tensor<?x5x3x8xf32>) outs(%7 : tensor<?x3x5x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_3 = linalg.transpose ins(%arg2 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %8 = linalg.matmul ins(%collapsed, %transposed_3 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %expanded_4 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [%6, 5, 3, 8] : tensor<?x24xf32> into tensor<?x5x3x8xf32>
    %transposed_5 = linalg.transpose ins(%arg3 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %9 = linalg.matmul ins(%collapsed, %transposed_5 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%4 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %expanded_6 = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [%6, 5, 3, 8] : tensor<?x24xf32> into tensor<?x5x3x8xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<?x5x3x8xf32>) outs(%7 : tensor<?x3x5x8xf32>) permutation = [0, 2, 1, 3] 
    %10 = tensor.empty(%6) : tensor<?x3x8x5xf32>
    %transposed_8 = linalg.transpose ins(%expanded_4 : tensor<?x5x3x8xf32>) outs(%10 : tensor<?x3x8x5xf32>) permutation = [0, 2, 3, 1] 
    %11 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %12 = tensor.empty(%dim) : tensor<?x3x5x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<?x3x5x8xf32>) {
    ^bb0(%out: f32):
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = arith.cmpi eq, %6, %c1 : index
      %51 = arith.select %50, %c0, %46 : index
      %extracted = tensor.extract %transposed_2[%51, %47, %48, %49] : tensor<?x3x5x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x5x8xf32>
    %collapsed_9 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<?x3x5x8xf32> into tensor<?x5x8xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %14 = tensor.empty(%dim) : tensor<?x3x8x5xf32>
    %15 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%14 : tensor<?x3x8x5xf32>) {
    ^bb0(%out: f32):
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = arith.cmpi eq, %6, %c1 : index
      %51 = arith.select %50, %c0, %46 : index
      %extracted = tensor.extract %transposed_8[%51, %47, %48, %49] : tensor<?x3x8x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x8x5xf32>
    %collapsed_10 = tensor.collapse_shape %15 [[0, 1], [2], [3]] : tensor<?x3x8x5xf32> into tensor<?x8x5xf32>
    %16 = affine.apply #map2()[%dim]
    %17 = tensor.empty(%16) : tensor<?x5x5xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<?x5x5xf32>) -> tensor<?x5x5xf32>
    %19 = linalg.batch_matmul ins(%collapsed_9, %collapsed_10 : tensor<?x5x8xf32>, tensor<?x8x5xf32>) outs(%18 : tensor<?x5x5xf32>) -> tensor<?x5x5xf32>
    %20 = arith.divsi %16, %c3 : index
    %expanded_11 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [%20, 3, 5, 5] : tensor<?x5x5xf32> into tensor<?x3x5x5xf32>
    %21 = tensor.empty(%20) : tensor<?x3x5x5xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11 : tensor<?x3x5x5xf32>) outs(%21 : tensor<?x3x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = arith.truncf %cst_1 : f64 to f32
      %47 = arith.mulf %in, %46 : f32
      linalg.yield %47 : f32
    } -> tensor<?x3x5x5xf32>
    %23 = tensor.empty(%20) : tensor<?x3x5xi64>
    %24 = linalg.fill ins(%c0_i64 : i64) outs(%23 : tensor<?x3x5xi64>) -> tensor<?x3x5xi64>
    %25 = tensor.empty(%20) : tensor<?x3x5xf32>
    %26 = linalg.fill ins(%cst_0 : f32) outs(%25 : tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
    %27:2 = linalg.generic {indexing_maps = [#map1, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%22 : tensor<?x3x5x5xf32>) outs(%26, %24 : tensor<?x3x5xf32>, tensor<?x3x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_20: i64):
      %46 = linalg.index 3 : index
      %47 = arith.index_cast %46 : index to i64
      %48 = arith.maximumf %in, %out : f32
      %49 = arith.cmpf ogt, %in, %out : f32
      %50 = arith.select %49, %47, %out_20 : i64
      linalg.yield %48, %50 : f32, i64
    } -> (tensor<?x3x5xf32>, tensor<?x3x5xi64>)
    %expanded_12 = tensor.expand_shape %27#0 [[0], [1], [2, 3]] output_shape [%20, 3, 5, 1] : tensor<?x3x5xf32> into tensor<?x3x5x1xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %expanded_12 : tensor<?x3x5x5xf32>, tensor<?x3x5x1xf32>) outs(%21 : tensor<?x3x5x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %46 = arith.subf %in, %in_20 : f32
      linalg.yield %46 : f32
    } -> tensor<?x3x5x5xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<?x3x5x5xf32>) outs(%21 : tensor<?x3x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = math.exp %in : f32
      linalg.yield %46 : f32
    } -> tensor<?x3x5x5xf32>
    %30 = tensor.empty(%20) : tensor<?x3x5x1xf32>
    %31 = linalg.fill ins(%cst : f32) outs(%30 : tensor<?x3x5x1xf32>) -> tensor<?x3x5x1xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<?x3x5x5xf32>) outs(%31 : tensor<?x3x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %46 = arith.addf %in, %out : f32
      linalg.yield %46 : f32
    } -> tensor<?x3x5x1xf32>
    %33 = linalg.generic {indexing_maps = [#map1, #map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<?x3x5x5xf32>, tensor<?x3x5x1xf32>) outs(%21 : tensor<?x3x5x5xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %46 = arith.divf %in, %in_20 : f32
      linalg.yield %46 : f32
    } -> tensor<?x3x5x5xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %34 = tensor.empty(%dim) : tensor<?x3x5x5xf32>
    %35 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%34 : tensor<?x3x5x5xf32>) {
    ^bb0(%out: f32):
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = arith.cmpi eq, %20, %c1 : index
      %51 = arith.select %50, %c0, %46 : index
      %extracted = tensor.extract %33[%51, %47, %48, %49] : tensor<?x3x5x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x5x5xf32>
    %collapsed_13 = tensor.collapse_shape %35 [[0, 1], [2], [3]] : tensor<?x3x5x5xf32> into tensor<?x5x5xf32>
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %36 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<?x3x5x8xf32>) {
    ^bb0(%out: f32):
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = arith.cmpi eq, %6, %c1 : index
      %51 = arith.select %50, %c0, %46 : index
      %extracted = tensor.extract %transposed_7[%51, %47, %48, %49] : tensor<?x3x5x8xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x3x5x8xf32>
    %collapsed_14 = tensor.collapse_shape %36 [[0, 1], [2], [3]] : tensor<?x3x5x8xf32> into tensor<?x5x8xf32>
    %37 = tensor.empty(%16) : tensor<?x5x8xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<?x5x8xf32>) -> tensor<?x5x8xf32>
    %39 = linalg.batch_matmul ins(%collapsed_13, %collapsed_14 : tensor<?x5x5xf32>, tensor<?x5x8xf32>) outs(%38 : tensor<?x5x8xf32>) -> tensor<?x5x8xf32>
    %expanded_15 = tensor.expand_shape %39 [[0, 1], [2], [3]] output_shape [%20, 3, 5, 8] : tensor<?x5x8xf32> into tensor<?x3x5x8xf32>
    %40 = tensor.empty(%20) : tensor<?x5x3x8xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<?x3x5x8xf32>) outs(%40 : tensor<?x5x3x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_17 = linalg.transpose ins(%arg4 : tensor<24x24xf32>) outs(%1 : tensor<24x24xf32>) permutation = [1, 0] 
    %collapsed_18 = tensor.collapse_shape %transposed_16 [[0, 1], [2, 3]] : tensor<?x5x3x8xf32> into tensor<?x24xf32>
    %41 = affine.apply #map()[%20]
    %42 = tensor.empty(%41) : tensor<?x24xf32>
    %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %44 = linalg.matmul ins(%collapsed_18, %transposed_17 : tensor<?x24xf32>, tensor<24x24xf32>) outs(%43 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %45 = arith.divsi %41, %c5 : index
    %expanded_19 = tensor.expand_shape %44 [[0, 1], [2]] output_shape [%45, 5, 24] : tensor<?x24xf32> into tensor<?x5x24xf32>
    return %expanded_19 : tensor<?x5x24xf32>
  }
}
