// open_sliced_softmax: f32 3x11
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
module {
  func.func @main(%arg0: tensor<3x?xf32>) -> tensor<3x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c2 = arith.constant 2 : index
    %c1_i64 = arith.constant 1 : i64
    %dim = tensor.dim %arg0, %c1 : tensor<3x?xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.minsi %0, %c1_i64 : i64
    %2 = arith.index_cast %1 : i64 to index
    %3 = arith.subi %dim, %2 : index
    %4 = arith.addi %3, %c1 : index
    %5 = arith.floordivsi %4, %c2 : index
    %6 = arith.maxsi %5, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %2] [3, %6] [1, 2] : tensor<3x?xf32> to tensor<3x?xf32>
    %7 = tensor.empty() : tensor<3xi64>
    %8 = linalg.fill ins(%c0_i64 : i64) outs(%7 : tensor<3xi64>) -> tensor<3xi64>
    %9 = tensor.empty() : tensor<3xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<3xf32>) -> tensor<3xf32>
    %11:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%extracted_slice : tensor<3x?xf32>) outs(%10, %8 : tensor<3xf32>, tensor<3xi64>) {
    ^bb0(%in: f32, %out: f32, %out_1: i64):
      %19 = linalg.index 1 : index
      %20 = arith.index_cast %19 : index to i64
      %21 = arith.maximumf %in, %out : f32
      %22 = arith.cmpf ogt, %in, %out : f32
      %23 = arith.select %22, %20, %out_1 : i64
      linalg.yield %21, %23 : f32, i64
    } -> (tensor<3xf32>, tensor<3xi64>)
    %expanded = tensor.expand_shape %11#0 [[0, 1]] output_shape [3, 1] : tensor<3xf32> into tensor<3x1xf32>
    %12 = tensor.empty(%6) : tensor<3x?xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %expanded : tensor<3x?xf32>, tensor<3x1xf32>) outs(%12 : tensor<3x?xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %19 = arith.subf %in, %in_1 : f32
      linalg.yield %19 : f32
    } -> tensor<3x?xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<3x?xf32>) outs(%12 : tensor<3x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.exp %in : f32
      linalg.yield %19 : f32
    } -> tensor<3x?xf32>
    %15 = tensor.empty() : tensor<3x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<3x1xf32>) -> tensor<3x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%14 : tensor<3x?xf32>) outs(%16 : tensor<3x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<3x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%14, %17 : tensor<3x?xf32>, tensor<3x1xf32>) outs(%12 : tensor<3x?xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %19 = arith.divf %in, %in_1 : f32
      linalg.yield %19 : f32
    } -> tensor<3x?xf32>
    return %18 : tensor<3x?xf32>
  }
}
