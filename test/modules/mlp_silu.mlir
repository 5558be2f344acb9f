// mlp_silu: 2x5x24 bfloat16, 40x24 bfloat16, 40 bfloat16, 24x40 bfloat16, 24 bfloat16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<2x5x24xbf16>, %arg1: tensor<40x24xbf16>, %arg2: tensor<40xbf16>, %arg3: tensor<24x40xbf16>, %arg4: tensor<24xbf16>) -> tensor<2x5x24xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x5x24xbf16> into tensor<10x24xbf16>
    %0 = tensor.empty() : tensor<24x40xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<40x24xbf16>) outs(%0 : tensor<24x40xbf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<40xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<40xbf16>) outs(%1 : tensor<40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<40xf32>
    %3 = tensor.empty() : tensor<10x24xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<10x24xbf16>) outs(%3 : tensor<10x24xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<10x24xf32>
    %5 = tensor.empty() : tensor<24x40xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<24x40xbf16>) outs(%5 : tensor<24x40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<24x40xf32>
    %7 = tensor.empty() : tensor<10x40xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<10x24xf32>, tensor<24x40xf32>) outs(%8 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<10x40xf32>, tensor<40xf32>) outs(%7 : tensor<10x40xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %30 = arith.addf %in, %in_4 : f32
      linalg.yield %30 : f32
    } -> tensor<10x40xf32>
    %11 = tensor.empty() : tensor<10x40xbf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<10x40xf32>) outs(%11 : tensor<10x40xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %30 = arith.truncf %in : f32 to bf16
      linalg.yield %30 : bf16
    } -> tensor<10x40xbf16>
    %expanded = tensor.expand_shape %12 [[0, 1], [2]] output_shape [2, 5, 40] : tensor<10x40xbf16> into tensor<2x5x40xbf16>
    %13 = tensor.empty() : tensor<2x5x40xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x5x40xbf16>) outs(%13 : tensor<2x5x40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<2x5x40xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<2x5x40xf32>) outs(%13 : tensor<2x5x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %30 = arith.negf %in : f32
      %31 = math.exp %30 : f32
      %32 = arith.addf %31, %cst_0 : f32
      %33 = arith.divf %cst_0, %32 : f32
      linalg.yield %33 : f32
    } -> tensor<2x5x40xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %15 : tensor<2x5x40xf32>, tensor<2x5x40xf32>) outs(%13 : tensor<2x5x40xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %30 = arith.mulf %in, %in_4 : f32
      linalg.yield %30 : f32
    } -> tensor<2x5x40xf32>
    %17 = tensor.empty() : tensor<2x5x40xbf16>
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<2x5x40xf32>) outs(%17 : tensor<2x5x40xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %30 = arith.truncf %in : f32 to bf16
      linalg.yield %30 : bf16
    } -> tensor<2x5x40xbf16>
    %collapsed_1 = tensor.collapse_shape %18 [[0, 1], [2]] : tensor<2x5x40xbf16> into tensor<10x40xbf16>
    %19 = tensor.empty() : tensor<40x24xbf16>
    %transposed_2 = linalg.transpose ins(%arg3 : tensor<24x40xbf16>) outs(%19 : tensor<40x24xbf16>) permutation = [1, 0] 
    %20 = tensor.empty() : tensor<24xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg4 : tensor<24xbf16>) outs(%20 : tensor<24xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<24xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_1 : tensor<10x40xbf16>) outs(%7 : tensor<10x40xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<10x40xf32>
    %23 = tensor.empty() : tensor<40x24xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_2 : tensor<40x24xbf16>) outs(%23 : tensor<40x24xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %30 = arith.extf %in : bf16 to f32
      linalg.yield %30 : f32
    } -> tensor<40x24xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%3 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %26 = linalg.matmul ins(%22, %24 : tensor<10x40xf32>, tensor<40x24xf32>) outs(%25 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%26, %21 : tensor<10x24xf32>, tensor<24xf32>) outs(%3 : tensor<10x24xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %30 = arith.addf %in, %in_4 : f32
      linalg.yield %30 : f32
    } -> tensor<10x24xf32>
    %28 = tensor.empty() : tensor<10x24xbf16>
    %29 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<10x24xf32>) outs(%28 : tensor<10x24xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %30 = arith.truncf %in : f32 to bf16
      linalg.yield %30 : bf16
    } -> tensor<10x24xbf16>
    %expanded_3 = tensor.expand_shape %29 [[0, 1], [2]] output_shape [2, 5, 24] : tensor<10x24xbf16> into tensor<2x5x24xbf16>
    return %expanded_3 : tensor<2x5x24xbf16>
  }
}
