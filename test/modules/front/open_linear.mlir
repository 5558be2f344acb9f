// open_linear: f16 2x5x24, f16 40x24, f16 40
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<()[s0] -> (s0 * 2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<2x?x24xf16>, %arg1: tensor<40x24xf16>, %arg2: tensor<40xf16>) -> tensor<2x?x40xf16> {
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x?x24xf16> into tensor<?x24xf16>
    %0 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf16>) outs(%0 : tensor<24x40xf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<40xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<40xf16>) outs(%1 : tensor<40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<40xf32>
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x24xf16>
    %3 = affine.apply #map1()[%dim]
    %4 = tensor.empty(%3) : tensor<?x24xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<?x24xf16>) outs(%4 : tensor<?x24xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<?x24xf32>
    %6 = tensor.empty() : tensor<24x40xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<24x40xf16>) outs(%6 : tensor<24x40xf32>) {
    ^bb0(%in: f16, %out: f32):
      %15 = arith.extf %in : f16 to f32
      linalg.yield %15 : f32
    } -> tensor<24x40xf32>
    %8 = tensor.empty(%3) : tensor<?x40xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %10 = linalg.matmul ins(%5, %7 : tensor<?x24xf32>, tensor<24x40xf32>) outs(%9 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %11 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%10, %2 : tensor<?x40xf32>, tensor<40xf32>) outs(%8 : tensor<?x40xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %15 = arith.addf %in, %in_0 : f32
      linalg.yield %15 : f32
    } -> tensor<?x40xf32>
    %12 = tensor.empty(%3) : tensor<?x40xf16>
    %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<?x40xf32>) outs(%12 : tensor<?x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %15 = arith.truncf %in : f32 to f16
      linalg.yield %15 : f16
    } -> tensor<?x40xf16>
    %14 = arith.divsi %3, %c2 : index
    %expanded = tensor.expand_shape %13 [[0, 1], [2]] output_shape [2, %14, 40] : tensor<?x40xf16> into tensor<2x?x40xf16>
    return %expanded : tensor<2x?x40xf16>
  }
}
