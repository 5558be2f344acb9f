// open_sliced_linear: f16 2x5x24, f16 40x24
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
module {
  func.func @main(%arg0: tensor<?x?x24xf16>, %arg1: tensor<40x24xf16>) -> tensor<?x?x40xf16> {
    %c-1_i64 = arith.constant -1 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c24_i64 = arith.constant 24 : i64
    %c40_i64 = arith.constant 40 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x24xf16>
    %0 = arith.index_cast %dim : index to i64
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x24xf16>
    %1 = arith.index_cast %dim_0 : index to i64
    %2 = arith.minsi %1, %c1_i64 : i64
    %3 = arith.index_cast %2 : i64 to index
    %4 = arith.subi %dim_0, %3 : index
    %5 = arith.maxsi %4, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %3, 0] [%dim, %5, 24] [1, 1, 1] : tensor<?x?x24xf16> to tensor<?x?x24xf16>
    %6 = arith.addi %1, %c-1_i64 : i64
    %7 = tensor.empty() : tensor<24x40xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xf16>) outs(%7 : tensor<24x40xf16>) permutation = [1, 0] 
    %8 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %8, "unimplemented: dynamic negative broadcast sizes"
    %9 = arith.index_cast %6 : i64 to index
    %10 = arith.cmpi sge, %6, %c0_i64 : i64
    cf.assert %10, "unimplemented: dynamic negative broadcast sizes"
    %11 = tensor.empty(%dim, %9) : tensor<?x?x24xf16>
    %12 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%11 : tensor<?x?x24xf16>) {
    ^bb0(%out: f16):
      %44 = linalg.index 0 : index
      %45 = linalg.index 1 : index
      %46 = linalg.index 2 : index
      %47 = arith.cmpi eq, %dim, %c1 : index
      %48 = arith.select %47, %c0, %44 : index
      %49 = arith.cmpi eq, %5, %c1 : index
      %50 = arith.select %49, %c0, %45 : index
      %extracted = tensor.extract %extracted_slice[%48, %50, %46] : tensor<?x?x24xf16>
      linalg.yield %extracted : f16
    } -> tensor<?x?x24xf16>
    %13 = arith.cmpi slt, %0, %c0_i64 : i64
    %14 = arith.select %13, %c1_i64, %0 : i64
    %15 = arith.extui %13 : i1 to i64
    %16 = arith.muli %14, %6 : i64
    %17 = arith.addi %15, %c1_i64 : i64
    %18 = arith.cmpi slt, %6, %c0_i64 : i64
    %19 = arith.select %18, %14, %16 : i64
    %20 = arith.select %18, %17, %15 : i64
    %21 = arith.muli %19, %c24_i64 : i64
    %22 = arith.cmpi sle, %20, %c1_i64 : i64
    cf.assert %22, "must have at most one inferred (negative) dimension"
    %23 = arith.muli %0, %6 : i64
    %24 = arith.muli %23, %c24_i64 : i64
    %25 = arith.divsi %24, %21 : i64
    %26 = arith.select %13, %25, %0 : i64
    %27 = arith.select %18, %25, %6 : i64
    %from_elements = tensor.from_elements %26, %27, %c24_i64 : tensor<3xi64>
    %reshape = tensor.reshape %12(%from_elements) : (tensor<?x?x24xf16>, tensor<3xi64>) -> tensor<?x?x24xf16>
    cf.assert %8, "negative values not allowed in new dimensions"
    %28 = tensor.empty(%dim) : tensor<?x24x40xf16>
    %29 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed : tensor<24x40xf16>) outs(%28 : tensor<?x24x40xf16>) {
    ^bb0(%in: f16, %out: f16):
      linalg.yield %in : f16
    } -> tensor<?x24x40xf16>
    %30 = arith.index_cast %26 : i64 to index
    %31 = arith.index_cast %27 : i64 to index
    %32 = arith.cmpi eq, %26, %0 : i64
    cf.assert %32, "mismatching contracting dimension"
    %33 = tensor.empty(%30, %31) : tensor<?x?x40xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
    %35 = linalg.batch_matmul ins(%reshape, %29 : tensor<?x?x24xf16>, tensor<?x24x40xf16>) outs(%34 : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
    %36 = tensor.empty(%30, %31) : tensor<?x?x40xf16>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<?x?x40xf32>) outs(%36 : tensor<?x?x40xf16>) {
    ^bb0(%in: f32, %out: f16):
      %44 = arith.truncf %in : f32 to f16
      linalg.yield %44 : f16
    } -> tensor<?x?x40xf16>
    %38 = arith.muli %19, %c40_i64 : i64
    cf.assert %22, "must have at most one inferred (negative) dimension"
    %39 = arith.muli %26, %27 : i64
    %40 = arith.muli %39, %c40_i64 : i64
    %41 = arith.divsi %40, %38 : i64
    %42 = arith.select %13, %41, %0 : i64
    %43 = arith.select %18, %41, %6 : i64
    %from_elements_1 = tensor.from_elements %42, %43, %c40_i64 : tensor<3xi64>
    %reshape_2 = tensor.reshape %37(%from_elements_1) : (tensor<?x?x40xf16>, tensor<3xi64>) -> tensor<?x?x40xf16>
    return %reshape_2 : tensor<?x?x40xf16>
  }
}
