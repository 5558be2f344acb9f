// sliding_window: f32 2x9x16, f32 2x9x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> ()>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
module {
  func.func @main(%arg0: tensor<2x9x16xf32>, %arg1: tensor<2x9x16xf32>) -> tensor<2x9x9xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %0 = tensor.empty() : tensor<9xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<9xi64>) {
    ^bb0(%out: i64):
      %23 = linalg.index 0 : index
      %24 = arith.index_cast %23 : index to i64
      linalg.yield %24 : i64
    } -> tensor<9xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [9, 1] : tensor<9xi64> into tensor<9x1xi64>
    %expanded_2 = tensor.expand_shape %1 [[0, 1]] output_shape [1, 9] : tensor<9xi64> into tensor<1x9xi64>
    %2 = tensor.empty() : tensor<9x9xi64>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_2 : tensor<9x1xi64>, tensor<1x9xi64>) outs(%2 : tensor<9x9xi64>) {
    ^bb0(%in: i64, %in_4: i64, %out: i64):
      %23 = arith.subi %in, %in_4 : i64
      linalg.yield %23 : i64
    } -> tensor<9x9xi64>
    %4 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<9x9xi64>) outs(%2 : tensor<9x9xi64>) {
    ^bb0(%in: i64, %out: i64):
      %23 = math.absi %in : i64
      linalg.yield %23 : i64
    } -> tensor<9x9xi64>
    %5 = tensor.empty() : tensor<9x9xi1>
    %6 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<9x9xi64>) outs(%5 : tensor<9x9xi1>) {
    ^bb0(%in: i64, %out: i1):
      %23 = arith.cmpi sgt, %in, %c2_i64 : i64
      linalg.yield %23 : i1
    } -> tensor<9x9xi1>
    %7 = tensor.empty() : tensor<2x16x9xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x9x16xf32>) outs(%7 : tensor<2x16x9xf32>) permutation = [0, 2, 1] 
    %8 = tensor.empty() : tensor<2x9x9xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %10 = linalg.batch_matmul ins(%arg0, %transposed : tensor<2x9x16xf32>, tensor<2x16x9xf32>) outs(%9 : tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %cst_1, %10 : tensor<9x9xi1>, tensor<f32>, tensor<2x9x9xf32>) outs(%8 : tensor<2x9x9xf32>) {
    ^bb0(%in: i1, %in_4: f32, %in_5: f32, %out: f32):
      %23 = arith.select %in, %in_4, %in_5 : f32
      linalg.yield %23 : f32
    } -> tensor<2x9x9xf32>
    %12 = tensor.empty() : tensor<2x9xi64>
    %13 = linalg.fill ins(%c0_i64 : i64) outs(%12 : tensor<2x9xi64>) -> tensor<2x9xi64>
    %14 = tensor.empty() : tensor<2x9xf32>
    %15 = linalg.fill ins(%cst_0 : f32) outs(%14 : tensor<2x9xf32>) -> tensor<2x9xf32>
    %16:2 = linalg.generic {indexing_maps = [#map6, #map7, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%11 : tensor<2x9x9xf32>) outs(%15, %13 : tensor<2x9xf32>, tensor<2x9xi64>) {
    ^bb0(%in: f32, %out: f32, %out_4: i64):
      %23 = linalg.index 2 : index
      %24 = arith.index_cast %23 : index to i64
      %25 = arith.maximumf %in, %out : f32
      %26 = arith.cmpf ogt, %in, %out : f32
      %27 = arith.select %26, %24, %out_4 : i64
      linalg.yield %25, %27 : f32, i64
    } -> (tensor<2x9xf32>, tensor<2x9xi64>)
    %expanded_3 = tensor.expand_shape %16#0 [[0], [1, 2]] output_shape [2, 9, 1] : tensor<2x9xf32> into tensor<2x9x1xf32>
    %17 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11, %expanded_3 : tensor<2x9x9xf32>, tensor<2x9x1xf32>) outs(%8 : tensor<2x9x9xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %23 = arith.subf %in, %in_4 : f32
      linalg.yield %23 : f32
    } -> tensor<2x9x9xf32>
    %18 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x9x9xf32>) outs(%8 : tensor<2x9x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %23 = math.exp %in : f32
      linalg.yield %23 : f32
    } -> tensor<2x9x9xf32>
    %19 = tensor.empty() : tensor<2x9x1xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<2x9x1xf32>) -> tensor<2x9x1xf32>
    %21 = linalg.generic {indexing_maps = [#map6, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%18 : tensor<2x9x9xf32>) outs(%20 : tensor<2x9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %23 = arith.addf %in, %out : f32
      linalg.yield %23 : f32
    } -> tensor<2x9x1xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %21 : tensor<2x9x9xf32>, tensor<2x9x1xf32>) outs(%8 : tensor<2x9x9xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %23 = arith.divf %in, %in_4 : f32
      linalg.yield %23 : f32
    } -> tensor<2x9x9xf32>
    return %22 : tensor<2x9x9xf32>
  }
}
