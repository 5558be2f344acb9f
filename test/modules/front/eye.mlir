// eye: f32 9x13
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> ()>
module {
  func.func @main(%arg0: tensor<9x13xf32>) -> tensor<9x13xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<13xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<13xi64>) {
    ^bb0(%out: i64):
      %9 = linalg.index 0 : index
      %10 = arith.index_cast %9 : index to i64
      linalg.yield %10 : i64
    } -> tensor<13xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [13, 1] : tensor<13xi64> into tensor<13x1xi64>
    %2 = tensor.empty() : tensor<13x13xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded, %1 : tensor<13x1xi64>, tensor<13xi64>) outs(%2 : tensor<13x13xi1>) {
    ^bb0(%in: i64, %in_2: i64, %out: i1):
      %9 = arith.cmpi eq, %in, %in_2 : i64
      linalg.yield %9 : i1
    } -> tensor<13x13xi1>
    %4 = tensor.empty() : tensor<13x13xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_1, %cst_0 : tensor<13x13xi1>, tensor<f32>, tensor<f32>) outs(%4 : tensor<13x13xf32>) {
    ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
      %9 = arith.select %in, %in_2, %in_3 : f32
      linalg.yield %9 : f32
    } -> tensor<13x13xf32>
    %6 = tensor.empty() : tensor<9x13xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<9x13xf32>) -> tensor<9x13xf32>
    %8 = linalg.matmul ins(%arg0, %5 : tensor<9x13xf32>, tensor<13x13xf32>) outs(%7 : tensor<9x13xf32>) -> tensor<9x13xf32>
    return %8 : tensor<9x13xf32>
  }
}
