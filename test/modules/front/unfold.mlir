// unfold: f32 1x2x6x7
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (0, 0, 0, 0, 0, 0)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, 0, 0, 0, 0)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, 0, 0)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
module {
  func.func @main(%arg0: tensor<1x2x6x7xf32>) -> tensor<1x18x20xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c6_i64 = arith.constant 6 : i64
    %c7_i64 = arith.constant 7 : i64
    %0 = tensor.empty() : tensor<4xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<4xi64>) {
    ^bb0(%out: i64):
      %17 = linalg.index 0 : index
      %18 = arith.index_cast %17 : index to i64
      linalg.yield %18 : i64
    } -> tensor<4xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
    %2 = tensor.empty() : tensor<3xi64>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%2 : tensor<3xi64>) {
    ^bb0(%out: i64):
      %17 = linalg.index 0 : index
      %18 = arith.index_cast %17 : index to i64
      linalg.yield %18 : i64
    } -> tensor<3xi64>
    %expanded_0 = tensor.expand_shape %3 [[0, 1]] output_shape [3, 1] : tensor<3xi64> into tensor<3x1xi64>
    %4 = tensor.empty() : tensor<3x4xi64>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_0 : tensor<1x4xi64>, tensor<3x1xi64>) outs(%4 : tensor<3x4xi64>) {
    ^bb0(%in: i64, %in_5: i64, %out: i64):
      %17 = arith.addi %in, %in_5 : i64
      linalg.yield %17 : i64
    } -> tensor<3x4xi64>
    %6 = tensor.empty() : tensor<5xi64>
    %7 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%6 : tensor<5xi64>) {
    ^bb0(%out: i64):
      %17 = linalg.index 0 : index
      %18 = arith.index_cast %17 : index to i64
      linalg.yield %18 : i64
    } -> tensor<5xi64>
    %expanded_1 = tensor.expand_shape %7 [[0, 1]] output_shape [1, 5] : tensor<5xi64> into tensor<1x5xi64>
    %8 = tensor.empty() : tensor<3x5xi64>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded_1, %expanded_0 : tensor<1x5xi64>, tensor<3x1xi64>) outs(%8 : tensor<3x5xi64>) {
    ^bb0(%in: i64, %in_5: i64, %out: i64):
      %17 = arith.addi %in, %in_5 : i64
      linalg.yield %17 : i64
    } -> tensor<3x5xi64>
    %expanded_2 = tensor.expand_shape %5 [[0], [1, 2, 3]] output_shape [3, 4, 1, 1] : tensor<3x4xi64> into tensor<3x4x1x1xi64>
    %10 = tensor.empty() : tensor<2xi64>
    %11 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%10 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %17 = linalg.index 0 : index
      %18 = arith.index_cast %17 : index to i64
      linalg.yield %18 : i64
    } -> tensor<2xi64>
    %expanded_3 = tensor.expand_shape %11 [[0, 1, 2, 3, 4]] output_shape [2, 1, 1, 1, 1] : tensor<2xi64> into tensor<2x1x1x1x1xi64>
    %12 = tensor.empty() : tensor<1xi64>
    %13 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%12 : tensor<1xi64>) {
    ^bb0(%out: i64):
      linalg.yield %c0_i64 : i64
    } -> tensor<1xi64>
    %expanded_4 = tensor.expand_shape %13 [[0, 1, 2, 3, 4, 5]] output_shape [1, 1, 1, 1, 1, 1] : tensor<1xi64> into tensor<1x1x1x1x1x1xi64>
    %14 = tensor.empty() : tensor<1x2x3x4x3x5xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map5, #map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4, %expanded_3, %expanded_2, %9 : tensor<1x1x1x1x1x1xi64>, tensor<2x1x1x1x1xi64>, tensor<3x4x1x1xi64>, tensor<3x5xi64>) outs(%14 : tensor<1x2x3x4x3x5xf32>) {
    ^bb0(%in: i64, %in_5: i64, %in_6: i64, %in_7: i64, %out: f32):
      %17 = arith.cmpi slt, %in, %c0_i64 : i64
      %18 = arith.addi %in, %c1_i64 : i64
      %19 = arith.select %17, %18, %in : i64
      %20 = arith.index_cast %19 : i64 to index
      %21 = arith.cmpi slt, %in_5, %c0_i64 : i64
      %22 = arith.addi %in_5, %c2_i64 : i64
      %23 = arith.select %21, %22, %in_5 : i64
      %24 = arith.index_cast %23 : i64 to index
      %25 = arith.cmpi slt, %in_6, %c0_i64 : i64
      %26 = arith.addi %in_6, %c6_i64 : i64
      %27 = arith.select %25, %26, %in_6 : i64
      %28 = arith.index_cast %27 : i64 to index
      %29 = arith.cmpi slt, %in_7, %c0_i64 : i64
      %30 = arith.addi %in_7, %c7_i64 : i64
      %31 = arith.select %29, %30, %in_7 : i64
      %32 = arith.index_cast %31 : i64 to index
      %extracted = tensor.extract %arg0[%20, %24, %28, %32] : tensor<1x2x6x7xf32>
      linalg.yield %extracted : f32
    } -> tensor<1x2x3x4x3x5xf32>
    %16 = tensor.empty() : tensor<1x2x3x3x4x5xf32>
    %transposed = linalg.transpose ins(%15 : tensor<1x2x3x4x3x5xf32>) outs(%16 : tensor<1x2x3x3x4x5xf32>) permutation = [0, 1, 2, 4, 3, 5] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1, 2, 3], [4, 5]] : tensor<1x2x3x3x4x5xf32> into tensor<1x18x20xf32>
    return %collapsed : tensor<1x18x20xf32>
  }
}
