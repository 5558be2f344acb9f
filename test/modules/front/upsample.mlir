// upsample: f32 2x3x4x5
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x8x10xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.000000e+00 : f32
    %cst_1 = arith.constant 3.000000e+00 : f32
    %cst_2 = arith.constant 4.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x3x8x10xf32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%0 : tensor<2x3x8x10xf32>) {
    ^bb0(%out: f32):
      %2 = linalg.index 0 : index
      %3 = linalg.index 1 : index
      %4 = linalg.index 2 : index
      %5 = linalg.index 3 : index
      %6 = arith.index_cast %4 : index to i64
      %7 = arith.sitofp %6 : i64 to f32
      %8 = arith.divf %7, %cst_0 : f32
      %9 = math.floor %8 : f32
      %10 = arith.maximumf %9, %cst : f32
      %11 = arith.minimumf %10, %cst_1 : f32
      %12 = arith.fptosi %11 : f32 to i64
      %13 = arith.index_cast %12 : i64 to index
      %14 = arith.index_cast %5 : index to i64
      %15 = arith.sitofp %14 : i64 to f32
      %16 = arith.divf %15, %cst_0 : f32
      %17 = math.floor %16 : f32
      %18 = arith.maximumf %17, %cst : f32
      %19 = arith.minimumf %18, %cst_2 : f32
      %20 = arith.fptosi %19 : f32 to i64
      %21 = arith.index_cast %20 : i64 to index
      %extracted = tensor.extract %arg0[%2, %3, %13, %21] : tensor<2x3x4x5xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x3x8x10xf32>
    return %1 : tensor<2x3x8x10xf32>
  }
}
