// open_linear_batch: f32 2x5x24, f32 40x24, f32 40
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<()[s0] -> (s0 * 5)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x5x24xf32>, %arg1: tensor<40x24xf32>, %arg2: tensor<40xf32>) -> tensor<?x5x40xf32> {
    %c5 = arith.constant 5 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<?x5x24xf32> into tensor<?x24xf32>
    %0 = tensor.empty() : tensor<24x40xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf32>) outs(%0 : tensor<24x40xf32>) permutation = [1, 0] 
    %dim = tensor.dim %arg0, %c0 : tensor<?x5x24xf32>
    %1 = affine.apply #map()[%dim]
    %2 = tensor.empty(%1) : tensor<?x40xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %4 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf32>, tensor<24x40xf32>) outs(%3 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4, %arg2 : tensor<?x40xf32>, tensor<40xf32>) outs(%2 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.addf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<?x40xf32>
    %6 = arith.divsi %1, %c5 : index
    %expanded = tensor.expand_shape %5 [[0, 1], [2]] output_shape [%6, 5, 40] : tensor<?x40xf32> into tensor<?x5x40xf32>
    return %expanded : tensor<?x5x40xf32>
  }
}
