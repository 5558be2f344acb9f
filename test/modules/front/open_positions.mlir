// open_positions: f16 2x7x24, f16 160x24, f16 16x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<?x?x24xf16>, %arg1: tensor<160x24xf16>, %arg2: tensor<16x24xf16>) -> tensor<?x?x16xf16> {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %c160 = arith.constant 160 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %0 = arith.index_cast %dim : index to i64
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x24xf16>
    %1 = arith.index_cast %dim_0 : index to i64
    %2 = arith.cmpi slt, %dim_0, %c0 : index
    %3 = arith.addi %dim_0, %c160 : index
    %4 = arith.select %2, %3, %dim_0 : index
    %5 = arith.cmpi slt, %4, %c0 : index
    %6 = arith.select %5, %c-1, %4 : index
    %7 = arith.minsi %6, %c160 : index
    %8 = arith.maxsi %7, %c0 : index
    %9 = arith.cmpi eq, %dim_0, %8 : index
    cf.assert %9, "mismatched size for broadcast"
    %10 = tensor.empty(%dim) : tensor<?x1x24xf16>
    %cast = tensor.cast %arg0 : tensor<?x?x24xf16> to tensor<?x1x24xf16>
    %extracted_slice = tensor.extract_slice %arg1[0, 0] [1, 24] [1, 1] : tensor<160x24xf16> to tensor<1x24xf16>
    %11 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast, %extracted_slice : tensor<?x1x24xf16>, tensor<1x24xf16>) outs(%10 : tensor<?x1x24xf16>) {
    ^bb0(%in: f16, %in_2: f16, %out: f16):
      %33 = arith.addf %in, %in_2 : f16
      linalg.yield %33 : f16
    } -> tensor<?x1x24xf16>
    %12 = tensor.empty() : tensor<24x16xf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<16x24xf16>) outs(%12 : tensor<24x16xf16>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %11 [[0], [1, 2]] : tensor<?x1x24xf16> into tensor<?x24xf16>
    %dim_1 = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %13 = tensor.empty(%dim_1) : tensor<?x16xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %15 = linalg.matmul ins(%collapsed, %transposed : tensor<?x24xf16>, tensor<24x16xf16>) outs(%14 : tensor<?x16xf32>) -> tensor<?x16xf32>
    %16 = tensor.empty(%dim_1) : tensor<?x16xf16>
    %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<?x16xf32>) outs(%16 : tensor<?x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %33 = arith.truncf %in : f32 to f16
      linalg.yield %33 : f16
    } -> tensor<?x16xf16>
    %18 = arith.cmpi slt, %0, %c0_i64 : i64
    %19 = arith.select %18, %c1_i64, %0 : i64
    %20 = arith.extui %18 : i1 to i64
    %21 = arith.muli %19, %1 : i64
    %22 = arith.addi %20, %c1_i64 : i64
    %23 = arith.cmpi slt, %1, %c0_i64 : i64
    %24 = arith.select %23, %19, %21 : i64
    %25 = arith.select %23, %22, %20 : i64
    %26 = arith.muli %24, %c16_i64 : i64
    %27 = arith.cmpi sle, %25, %c1_i64 : i64
    cf.assert %27, "must have at most one inferred (negative) dimension"
    %28 = arith.index_cast %dim_1 : index to i64
    %29 = arith.muli %28, %c16_i64 : i64
    %30 = arith.divsi %29, %26 : i64
    %31 = arith.select %18, %30, %0 : i64
    %32 = arith.select %23, %30, %1 : i64
    %from_elements = tensor.from_elements %31, %32, %c16_i64 : tensor<3xi64>
    %reshape = tensor.reshape %17(%from_elements) : (tensor<?x16xf16>, tensor<3xi64>) -> tensor<?x?x16xf16>
    return %reshape : tensor<?x?x16xf16>
  }
}
