// alibi: f32 2x3x9x16, f32 2x3x9x16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, 0, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<2x3x9x16xf32>, %arg1: tensor<2x3x9x16xf32>) -> tensor<2x3x9x9xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_3_torch.float32> : tensor<3xf32>
    %0 = tensor.empty() : tensor<9xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<9xi64>) {
    ^bb0(%out: i64):
      %25 = linalg.index 0 : index
      %26 = arith.index_cast %25 : index to i64
      linalg.yield %26 : i64
    } -> tensor<9xi64>
    %expanded = tensor.expand_shape %1 [[0, 1]] output_shape [1, 9] : tensor<9xi64> into tensor<1x9xi64>
    %expanded_2 = tensor.expand_shape %1 [[0, 1]] output_shape [9, 1] : tensor<9xi64> into tensor<9x1xi64>
    %2 = tensor.empty() : tensor<9x9xi64>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_2 : tensor<1x9xi64>, tensor<9x1xi64>) outs(%2 : tensor<9x9xi64>) {
    ^bb0(%in: i64, %in_7: i64, %out: i64):
      %25 = arith.subi %in, %in_7 : i64
      linalg.yield %25 : i64
    } -> tensor<9x9xi64>
    %4 = tensor.empty() : tensor<9x9xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<9x9xi64>) outs(%4 : tensor<9x9xf32>) {
    ^bb0(%in: i64, %out: f32):
      %25 = arith.sitofp %in : i64 to f32
      linalg.yield %25 : f32
    } -> tensor<9x9xf32>
    %expanded_3 = tensor.expand_shape %cst_1 [[0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
    %6 = tensor.empty() : tensor<2x3x16x9xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x3x9x16xf32>) outs(%6 : tensor<2x3x16x9xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x3x9x16xf32> into tensor<6x9x16xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x3x16x9xf32> into tensor<6x16x9xf32>
    %7 = tensor.empty() : tensor<6x9x9xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<6x9x9xf32>) -> tensor<6x9x9xf32>
    %9 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<6x9x16xf32>, tensor<6x16x9xf32>) outs(%8 : tensor<6x9x9xf32>) -> tensor<6x9x9xf32>
    %expanded_5 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [2, 3, 9, 9] : tensor<6x9x9xf32> into tensor<2x3x9x9xf32>
    %10 = tensor.empty() : tensor<3x9x9xf32>
    %11 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_3, %5 : tensor<3x1x1xf32>, tensor<9x9xf32>) outs(%10 : tensor<3x9x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.mulf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<3x9x9xf32>
    %12 = tensor.empty() : tensor<2x3x9x9xf32>
    %13 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %11 : tensor<2x3x9x9xf32>, tensor<3x9x9xf32>) outs(%12 : tensor<2x3x9x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.addf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<2x3x9x9xf32>
    %14 = tensor.empty() : tensor<2x3x9xi64>
    %15 = linalg.fill ins(%c0_i64 : i64) outs(%14 : tensor<2x3x9xi64>) -> tensor<2x3x9xi64>
    %16 = tensor.empty() : tensor<2x3x9xf32>
    %17 = linalg.fill ins(%cst_0 : f32) outs(%16 : tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
    %18:2 = linalg.generic {indexing_maps = [#map7, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<2x3x9x9xf32>) outs(%17, %15 : tensor<2x3x9xf32>, tensor<2x3x9xi64>) {
    ^bb0(%in: f32, %out: f32, %out_7: i64):
      %25 = linalg.index 3 : index
      %26 = arith.index_cast %25 : index to i64
      %27 = arith.maximumf %in, %out : f32
      %28 = arith.cmpf ogt, %in, %out : f32
      %29 = arith.select %28, %26, %out_7 : i64
      linalg.yield %27, %29 : f32, i64
    } -> (tensor<2x3x9xf32>, tensor<2x3x9xi64>)
    %expanded_6 = tensor.expand_shape %18#0 [[0], [1], [2, 3]] output_shape [2, 3, 9, 1] : tensor<2x3x9xf32> into tensor<2x3x9x1xf32>
    %19 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %expanded_6 : tensor<2x3x9x9xf32>, tensor<2x3x9x1xf32>) outs(%12 : tensor<2x3x9x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.subf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<2x3x9x9xf32>
    %20 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<2x3x9x9xf32>) outs(%12 : tensor<2x3x9x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %25 = math.exp %in : f32
      linalg.yield %25 : f32
    } -> tensor<2x3x9x9xf32>
    %21 = tensor.empty() : tensor<2x3x9x1xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<2x3x9x1xf32>) -> tensor<2x3x9x1xf32>
    %23 = linalg.generic {indexing_maps = [#map7, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%20 : tensor<2x3x9x9xf32>) outs(%22 : tensor<2x3x9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %25 = arith.addf %in, %out : f32
      linalg.yield %25 : f32
    } -> tensor<2x3x9x1xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20, %23 : tensor<2x3x9x9xf32>, tensor<2x3x9x1xf32>) outs(%12 : tensor<2x3x9x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %25 = arith.divf %in, %in_7 : f32
      linalg.yield %25 : f32
    } -> tensor<2x3x9x9xf32>
    return %24 : tensor<2x3x9x9xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_3_torch.float32: "0x040000000000003F0000803E0000003E"
    }
  }
#-}
