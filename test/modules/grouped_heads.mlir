// grouped_heads: 2x5x24 float16, 48x24 float16, 16x24 float16, 16x24 float16
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<2x5x24xf16>, %arg1: tensor<48x24xf16>, %arg2: tensor<16x24xf16>, %arg3: tensor<16x24xf16>) -> (tensor<2x5x48xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<24x48xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<48x24xf16>) outs(%0 : tensor<24x48xf16>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x5x24xf16> into tensor<10x24xf16>
    %1 = tensor.empty() : tensor<10x48xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<10x48xf32>) -> tensor<10x48xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<10x24xf16>, tensor<24x48xf16>) outs(%2 : tensor<10x48xf32>) -> tensor<10x48xf32>
    %4 = tensor.empty() : tensor<10x48xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<10x48xf32>) outs(%4 : tensor<10x48xf16>) {
    ^bb0(%in: f32, %out: f16):
      %14 = arith.truncf %in : f32 to f16
      linalg.yield %14 : f16
    } -> tensor<10x48xf16>
    %expanded = tensor.expand_shape %5 [[0, 1], [2]] output_shape [2, 5, 48] : tensor<10x48xf16> into tensor<2x5x48xf16>
    %6 = tensor.empty() : tensor<24x16xf16>
    %transposed_0 = linalg.transpose ins(%arg2 : tensor<16x24xf16>) outs(%6 : tensor<24x16xf16>) permutation = [1, 0] 
    %7 = tensor.empty() : tensor<10x16xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %9 = linalg.matmul ins(%collapsed, %transposed_0 : tensor<10x24xf16>, tensor<24x16xf16>) outs(%8 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %10 = tensor.empty() : tensor<10x16xf16>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<10x16xf32>) outs(%10 : tensor<10x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %14 = arith.truncf %in : f32 to f16
      linalg.yield %14 : f16
    } -> tensor<10x16xf16>
    %expanded_1 = tensor.expand_shape %11 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf16> into tensor<2x5x16xf16>
    %transposed_2 = linalg.transpose ins(%arg3 : tensor<16x24xf16>) outs(%6 : tensor<24x16xf16>) permutation = [1, 0] 
    %12 = linalg.matmul ins(%collapsed, %transposed_2 : tensor<10x24xf16>, tensor<24x16xf16>) outs(%8 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<10x16xf32>) outs(%10 : tensor<10x16xf16>) {
    ^bb0(%in: f32, %out: f16):
      %14 = arith.truncf %in : f32 to f16
      linalg.yield %14 : f16
    } -> tensor<10x16xf16>
    %expanded_3 = tensor.expand_shape %13 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf16> into tensor<2x5x16xf16>
    return %expanded, %expanded_1, %expanded_3 : tensor<2x5x48xf16>, tensor<2x5x16xf16>, tensor<2x5x16xf16>
  }
}
