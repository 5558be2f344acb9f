// open_upsample: f32 2x3x5x6
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x3x?x?xf32>) -> tensor<2x3x?x?xf32> {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 2.000000e+00 : f32
    %dim = tensor.dim %arg0, %c2 : tensor<2x3x?x?xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_2 = tensor.dim %arg0, %c3 : tensor<2x3x?x?xf32>
    %1 = arith.index_cast %dim_2 : index to i64
    %2 = arith.sitofp %0 : i64 to f32
    %3 = arith.mulf %2, %cst_1 : f32
    %4 = math.floor %3 : f32
    %5 = arith.fptosi %4 : f32 to i64
    %6 = arith.sitofp %1 : i64 to f32
    %7 = arith.mulf %6, %cst_1 : f32
    %8 = math.floor %7 : f32
    %9 = arith.fptosi %8 : f32 to i64
    %10 = arith.index_cast %5 : i64 to index
    %11 = arith.index_cast %9 : i64 to index
    %12 = tensor.empty(%10, %11) : tensor<2x3x?x?xf32>
    %13 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%12 : tensor<2x3x?x?xf32>) {
    ^bb0(%out: f32):
      %14 = linalg.index 0 : index
      %15 = linalg.index 1 : index
      %16 = linalg.index 2 : index
      %17 = linalg.index 3 : index
      %18 = arith.index_cast %16 : index to i64
      %19 = arith.sitofp %18 : i64 to f32
      %20 = arith.divf %19, %cst_1 : f32
      %21 = math.floor %20 : f32
      %22 = arith.subf %2, %cst : f32
      %23 = arith.maximumf %21, %cst_0 : f32
      %24 = arith.minimumf %23, %22 : f32
      %25 = arith.fptosi %24 : f32 to i64
      %26 = arith.index_cast %25 : i64 to index
      %27 = arith.index_cast %17 : index to i64
      %28 = arith.sitofp %27 : i64 to f32
      %29 = arith.divf %28, %cst_1 : f32
      %30 = math.floor %29 : f32
      %31 = arith.subf %6, %cst : f32
      %32 = arith.maximumf %30, %cst_0 : f32
      %33 = arith.minimumf %32, %31 : f32
      %34 = arith.fptosi %33 : f32 to i64
      %35 = arith.index_cast %34 : i64 to index
      %extracted = tensor.extract %arg0[%14, %15, %26, %35] : tensor<2x3x?x?xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x?x?xf32>
    return %13 : tensor<2x3x?x?xf32>
  }
}
