#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<4096x4096xbf16>, %arg1: tensor<14336x4096xbf16>, %arg2: tensor<14336x4096xbf16>, %arg3: tensor<4096x14336xbf16>) -> tensor<4096x4096xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %0 = tensor.empty() : tensor<4096x14336xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<14336x4096xbf16>) outs(%0 : tensor<4096x14336xbf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<4096x14336xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%2 : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<4096x14336xf32>) outs(%0 : tensor<4096x14336xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %18 = arith.truncf %in : f32 to bf16
      linalg.yield %18 : bf16
    } -> tensor<4096x14336xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<4096x14336xbf16>) outs(%1 : tensor<4096x14336xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %18 = arith.extf %in : bf16 to f32
      linalg.yield %18 : f32
    } -> tensor<4096x14336xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<4096x14336xf32>) outs(%1 : tensor<4096x14336xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.negf %in : f32
      %19 = math.exp %18 : f32
      %20 = arith.addf %19, %cst_0 : f32
      %21 = arith.divf %cst_0, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<4096x14336xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<4096x14336xf32>, tensor<4096x14336xf32>) outs(%1 : tensor<4096x14336xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %18 = arith.mulf %in, %in_3 : f32
      linalg.yield %18 : f32
    } -> tensor<4096x14336xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<4096x14336xf32>) outs(%0 : tensor<4096x14336xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %18 = arith.truncf %in : f32 to bf16
      linalg.yield %18 : bf16
    } -> tensor<4096x14336xbf16>
    %transposed_1 = linalg.transpose ins(%arg2 : tensor<14336x4096xbf16>) outs(%0 : tensor<4096x14336xbf16>) permutation = [1, 0] 
    %9 = linalg.matmul ins(%arg0, %transposed_1 : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%2 : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<4096x14336xf32>) outs(%0 : tensor<4096x14336xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %18 = arith.truncf %in : f32 to bf16
      linalg.yield %18 : bf16
    } -> tensor<4096x14336xbf16>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<4096x14336xbf16>, tensor<4096x14336xbf16>) outs(%0 : tensor<4096x14336xbf16>) {
    ^bb0(%in: bf16, %in_3: bf16, %out: bf16):
      %18 = arith.mulf %in, %in_3 : bf16
      linalg.yield %18 : bf16
    } -> tensor<4096x14336xbf16>
    %12 = tensor.empty() : tensor<14336x4096xbf16>
    %transposed_2 = linalg.transpose ins(%arg3 : tensor<4096x14336xbf16>) outs(%12 : tensor<14336x4096xbf16>) permutation = [1, 0] 
    %13 = tensor.empty() : tensor<4096x4096xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %15 = linalg.matmul ins(%11, %transposed_2 : tensor<4096x14336xbf16>, tensor<14336x4096xbf16>) outs(%14 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %16 = tensor.empty() : tensor<4096x4096xbf16>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<4096x4096xf32>) outs(%16 : tensor<4096x4096xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %18 = arith.truncf %in : f32 to bf16
      linalg.yield %18 : bf16
    } -> tensor<4096x4096xbf16>
    return %17 : tensor<4096x4096xbf16>
  }
}
