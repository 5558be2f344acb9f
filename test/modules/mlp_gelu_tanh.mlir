// mlp_gelu_tanh: 2x5x24 float32, 40x24 float32, 40 float32, 24x40 float32, 24 float32
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<2x5x24xf32>, %arg1: tensor<40x24xf32>, %arg2: tensor<40xf32>, %arg3: tensor<24x40xf32>, %arg4: tensor<24xf32>) -> tensor<2x5x24xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_0 = arith.constant 4.471500e-02 : f32
    %cst_1 = arith.constant 7.977240e-01 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x5x24xf32> into tensor<10x24xf32>
    %0 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%0 : tensor<24x40xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<10x40xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<10x24xf32>, tensor<24x40xf32>) outs(%2 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<10x40xf32>, tensor<40xf32>) outs(%1 : tensor<10x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.addf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<10x40xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2]] output_shape [2, 5, 40] : tensor<10x40xf32> into tensor<2x5x40xf32>
    %5 = tensor.empty() : tensor<2x5x40xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x5x40xf32>) outs(%5 : tensor<2x5x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = math.fpowi %in, %c3_i64 : f32, i64
      %13 = arith.mulf %12, %cst_0 : f32
      %14 = arith.addf %in, %13 : f32
      %15 = arith.mulf %14, %cst_1 : f32
      %16 = math.tanh %15 : f32
      %17 = arith.addf %16, %cst_2 : f32
      %18 = arith.mulf %17, %cst_3 : f32
      %19 = arith.mulf %in, %18 : f32
      linalg.yield %19 : f32
    } -> tensor<2x5x40xf32>
    %collapsed_4 = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<2x5x40xf32> into tensor<10x40xf32>
    %7 = tensor.empty() : tensor<40x24xf32>
    %transposed_5 = linalg.transpose ins(%arg3 : tensor<24x40xf32>) outs(%7 : tensor<40x24xf32>) permutation = [1, 0] 
    %8 = tensor.empty() : tensor<10x24xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %10 = linalg.matmul ins(%collapsed_4, %transposed_5 : tensor<10x40xf32>, tensor<40x24xf32>) outs(%9 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%10, %arg4 : tensor<10x24xf32>, tensor<24xf32>) outs(%8 : tensor<10x24xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %12 = arith.addf %in, %in_7 : f32
      linalg.yield %12 : f32
    } -> tensor<10x24xf32>
    %expanded_6 = tensor.expand_shape %11 [[0, 1], [2]] output_shape [2, 5, 24] : tensor<10x24xf32> into tensor<2x5x24xf32>
    return %expanded_6 : tensor<2x5x24xf32>
  }
}
