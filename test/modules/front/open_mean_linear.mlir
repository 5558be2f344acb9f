// open_mean_linear: f16 3x5x24, f16 40x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<?x?x24xf16>, %arg1: tensor<40x24xf16>) -> tensor<?x40xf16> {
    %cst = arith.constant 0.000000e+00 : f16
    %c0 = arith.constant 0 : index
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %0 = tensor.empty(%dim) : tensor<?x24xf16>
    %1 = linalg.fill ins(%cst : f16) outs(%0 : tensor<?x24xf16>) -> tensor<?x24xf16>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0 : tensor<?x?x24xf16>) outs(%1 : tensor<?x24xf16>) {
    ^bb0(%in: f16, %out: f16):
      %11 = arith.addf %in, %out : f16
      linalg.yield %11 : f16
    } -> tensor<?x24xf16>
    %dim_1 = tensor.dim %arg0, %c1 : tensor<?x?x24xf16>
    %3 = arith.index_cast %dim_1 : index to i64
    %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<?x24xf16>) outs(%0 : tensor<?x24xf16>) {
    ^bb0(%in: f16, %out: f16):
      %11 = arith.sitofp %3 : i64 to f16
      %12 = arith.divf %in, %11 : f16
      linalg.yield %12 : f16
    } -> tensor<?x24xf16>
    %5 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf16>) outs(%5 : tensor<24x40xf16>) permutation = [1, 0] 
    %6 = tensor.empty(%dim) : tensor<?x40xf32>
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %8 = linalg.matmul ins(%4, %transposed : tensor<?x24xf16>, tensor<24x40xf16>) outs(%7 : tensor<?x40xf32>) -> tensor<?x40xf32>
    %9 = tensor.empty(%dim) : tensor<?x40xf16>
    %10 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<?x40xf32>) outs(%9 : tensor<?x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %11 = arith.truncf %in : f32 to f16
      linalg.yield %11 : f16
    } -> tensor<?x40xf16>
    return %10 : tensor<?x40xf16>
  }
}
