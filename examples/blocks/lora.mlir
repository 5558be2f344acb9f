#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<2048x4096xbf16>, %arg1: tensor<4096x4096xbf16>, %arg2: tensor<16x4096xbf16>, %arg3: tensor<4096x16xbf16>) -> tensor<2048x4096xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4096x4096xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<4096x4096xbf16>) outs(%0 : tensor<4096x4096xbf16>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<2048x4096xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<2048x4096xbf16>, tensor<4096x4096xbf16>) outs(%2 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %4 = tensor.empty() : tensor<2048x4096xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<2048x4096xf32>) outs(%4 : tensor<2048x4096xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %16 = arith.truncf %in : f32 to bf16
      linalg.yield %16 : bf16
    } -> tensor<2048x4096xbf16>
    %6 = tensor.empty() : tensor<4096x16xbf16>
    %transposed_0 = linalg.transpose ins(%arg2 : tensor<16x4096xbf16>) outs(%6 : tensor<4096x16xbf16>) permutation = [1, 0] 
    %7 = tensor.empty() : tensor<2048x16xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2048x16xf32>) -> tensor<2048x16xf32>
    %9 = linalg.matmul ins(%arg0, %transposed_0 : tensor<2048x4096xbf16>, tensor<4096x16xbf16>) outs(%8 : tensor<2048x16xf32>) -> tensor<2048x16xf32>
    %10 = tensor.empty() : tensor<2048x16xbf16>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<2048x16xf32>) outs(%10 : tensor<2048x16xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %16 = arith.truncf %in : f32 to bf16
      linalg.yield %16 : bf16
    } -> tensor<2048x16xbf16>
    %12 = tensor.empty() : tensor<16x4096xbf16>
    %transposed_1 = linalg.transpose ins(%arg3 : tensor<4096x16xbf16>) outs(%12 : tensor<16x4096xbf16>) permutation = [1, 0] 
    %13 = linalg.matmul ins(%11, %transposed_1 : tensor<2048x16xbf16>, tensor<16x4096xbf16>) outs(%2 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<2048x4096xf32>) outs(%4 : tensor<2048x4096xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %16 = arith.truncf %in : f32 to bf16
      linalg.yield %16 : bf16
    } -> tensor<2048x4096xbf16>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %14 : tensor<2048x4096xbf16>, tensor<2048x4096xbf16>) outs(%4 : tensor<2048x4096xbf16>) {
    ^bb0(%in: bf16, %in_2: bf16, %out: bf16):
      %16 = arith.addf %in, %in_2 : bf16
      linalg.yield %16 : bf16
    } -> tensor<2048x4096xbf16>
    return %15 : tensor<2048x4096xbf16>
  }
}
