// open_last_token: f16 3x5x16, f16 24x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<?x?x16xf16>, %arg1: tensor<24x16xf16>) -> tensor<?x24xf16> {
    %c-1_i64 = arith.constant -1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x16xf16>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.addi %0, %c-1_i64 : i64
    %2 = arith.addi %1, %0 : i64
    %3 = arith.cmpi sge, %1, %c0_i64 : i64
    %4 = arith.select %3, %1, %2 : i64
    %5 = arith.maxsi %4, %c0_i64 : i64
    %6 = arith.minsi %5, %0 : i64
    %7 = arith.index_cast %6 : i64 to index
    %dim_0 = tensor.dim %arg0, %c0 : tensor<?x?x16xf16>
    %extracted_slice = tensor.extract_slice %arg0[0, %7, 0] [%dim_0, 1, 16] [1, 1, 1] : tensor<?x?x16xf16> to tensor<?x1x16xf16>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<?x1x16xf16> into tensor<?x16xf16>
    %8 = tensor.empty() : tensor<16x24xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<24x16xf16>) outs(%8 : tensor<16x24xf16>) permutation = [1, 0] 
    %9 = tensor.empty(%dim_0) : tensor<?x24xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %11 = linalg.matmul ins(%collapsed, %transposed : tensor<?x16xf16>, tensor<16x24xf16>) outs(%10 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %12 = tensor.empty(%dim_0) : tensor<?x24xf16>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<?x24xf32>) outs(%12 : tensor<?x24xf16>) {
    ^bb0(%in: f32, %out: f16):
      %14 = arith.truncf %in : f32 to f16
      linalg.yield %14 : f16
    } -> tensor<?x24xf16>
    return %13 : tensor<?x24xf16>
  }
}
