// embedding_linear: i64<20 3x5, f16 20x16, f16 24x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<3x5xi64>, %arg1: tensor<20x16xf16>, %arg2: tensor<24x16xf16>) -> tensor<3x5x24xf16> {
    %c20 = arith.constant 20 : index
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x5x16xf16>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<3x5xi64>) outs(%0 : tensor<3x5x16xf16>) {
    ^bb0(%in: i64, %out: f16):
      %8 = arith.index_cast %in : i64 to index
      %9 = linalg.index 2 : index
      %10 = arith.cmpi slt, %8, %c20 : index
      cf.assert %10, "index must be smaller than dim size"
      %11 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %11, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg1[%8, %9] : tensor<20x16xf16>
      linalg.yield %extracted : f16
    } -> tensor<3x5x16xf16>
    %2 = tensor.empty() : tensor<16x24xf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<24x16xf16>) outs(%2 : tensor<16x24xf16>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<3x5x16xf16> into tensor<15x16xf16>
    %3 = tensor.empty() : tensor<15x24xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<15x24xf32>) -> tensor<15x24xf32>
    %5 = linalg.matmul ins(%collapsed, %transposed : tensor<15x16xf16>, tensor<16x24xf16>) outs(%4 : tensor<15x24xf32>) -> tensor<15x24xf32>
    %6 = tensor.empty() : tensor<15x24xf16>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<15x24xf32>) outs(%6 : tensor<15x24xf16>) {
    ^bb0(%in: f32, %out: f16):
      %8 = arith.truncf %in : f32 to f16
      linalg.yield %8 : f16
    } -> tensor<15x24xf16>
    %expanded = tensor.expand_shape %7 [[0, 1], [2]] output_shape [3, 5, 24] : tensor<15x24xf16> into tensor<3x5x24xf16>
    return %expanded : tensor<3x5x24xf16>
  }
}
