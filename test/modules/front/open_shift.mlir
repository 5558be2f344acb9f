// open_shift: f32 3x5x8, f32 8
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2) -> ()>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<()[s0] -> (s0 + 1)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @main(%arg0: tensor<?x?x8xf32>, %arg1: tensor<8xf32>) -> tensor<?x?x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<?x1x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%2 : tensor<?x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x1x8xf32>
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x8xf32>
    %4 = arith.index_cast %dim_0 : index to i64
    %5 = arith.minsi %4, %c0_i64 : i64
    %6 = arith.index_cast %5 : i64 to index
    %7 = arith.addi %dim_0, %c-1 : index
    %8 = arith.cmpi slt, %7, %c0 : index
    %9 = arith.select %8, %c-1, %7 : index
    %10 = arith.minsi %9, %dim_0 : index
    %11 = arith.subi %10, %6 : index
    %12 = arith.maxsi %11, %c0 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %6, 0] [%dim, %12, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
    %concat = tensor.concat dim(1) %3, %extracted_slice : (tensor<?x1x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    %dim_1 = tensor.dim %3, %c0 : tensor<?x1x8xf32>
    %13 = affine.apply #map2()[%12]
    %14 = arith.cmpi eq, %dim_1, %dim : index
    cf.assert %14, "mismatched size for broadcast"
    %15 = arith.cmpi eq, %13, %dim_0 : index
    cf.assert %15, "mismatched size for broadcast"
    %16 = tensor.empty(%dim_1, %13) : tensor<?x?x8xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%concat, %arg0 : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%16 : tensor<?x?x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %23 = arith.subf %in, %in_2 : f32
      linalg.yield %23 : f32
    } -> tensor<?x?x8xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %arg1 : tensor<?x?x8xf32>, tensor<8xf32>) outs(%16 : tensor<?x?x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %23 = arith.mulf %in, %in_2 : f32
      linalg.yield %23 : f32
    } -> tensor<?x?x8xf32>
    %19 = arith.cmpi eq, %dim, %dim_1 : index
    cf.assert %19, "mismatched size for broadcast"
    %20 = arith.cmpi eq, %dim_0, %13 : index
    cf.assert %20, "mismatched size for broadcast"
    %21 = tensor.empty(%dim, %dim_0) : tensor<?x?x8xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %18 : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%21 : tensor<?x?x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %23 = arith.addf %in, %in_2 : f32
      linalg.yield %23 : f32
    } -> tensor<?x?x8xf32>
    return %22 : tensor<?x?x8xf32>
  }
}
