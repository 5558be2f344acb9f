// open_mlp: f32 2x5x24, f32 40x24, f32 40, f32 24x40, f32 24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<()[s0] -> (s0 * 2)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<2x?x24xf32>, %arg1: tensor<40x24xf32>, %arg2: tensor<40xf32>, %arg3: tensor<24x40xf32>, %arg4: tensor<24xf32>) -> tensor<2x?x24xf32> {
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %cst_2 = arith.constant 1.41421354 : f32
    %c1 = arith.constant 1 : index
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x24xf32> into tensor<?x24xf32>
    %0 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%0 : tensor<24x40xf32>) permutation = [1, 0] 
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x24xf32>
    %1 = affine.apply #map()[%dim]
    %2 = tensor.empty(%1) : tensor<?x40xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %4 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x40xf32>) outs(%3 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4, %arg2 : tensor<?x40xf32>, tensor<40xf32>) outs(%2 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %16 = arith.addf %in, %in_6 : f32
      linalg.yield %16 : f32
    } -> tensor<?x40xf32>
    %6 = arith.divsi %1, %c2 : index
    %expanded = tensor.expand_shape %5 [[0, 1], [2]] output_shape [2, %6, 40] : tensor<?x40xf32> into tensor<2x?x40xf32>
    %7 = tensor.empty(%6) : tensor<2x?x40xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x?x40xf32>) outs(%7 : tensor<2x?x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %16 = arith.divf %in, %cst_2 : f32
      %17 = math.erf %16 : f32
      %18 = arith.addf %17, %cst_0 : f32
      %19 = arith.mulf %18, %cst_1 : f32
      %20 = arith.mulf %in, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<2x?x40xf32>
    %collapsed_3 = tensor.collapse_shape %8 [[0, 1], [2]] : tensor<2x?x40xf32> into tensor<?x40xf32>
    %9 = tensor.empty() : tensor<40x24xf32>
    %transposed_4 = linalg.transpose ins(%arg3 : tensor<24x40xf32>) outs(%9 : tensor<40x24xf32>) permutation = [1, 0] 
    %10 = affine.apply #map()[%6]
    %11 = tensor.empty(%10) : tensor<?x24xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %13 = linalg.matmul ins(%collapsed_3, %transposed_4 : tensor<?x40xf32>, tensor<40x24xf32>) outs(%12 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%13, %arg4 : tensor<?x24xf32>, tensor<24xf32>) outs(%11 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %16 = arith.addf %in, %in_6 : f32
      linalg.yield %16 : f32
    } -> tensor<?x24xf32>
    %15 = arith.divsi %10, %c2 : index
    %expanded_5 = tensor.expand_shape %14 [[0, 1], [2]] output_shape [2, %15, 24] : tensor<?x24xf32> into tensor<2x?x24xf32>
    return %expanded_5 : tensor<2x?x24xf32>
  }
}
