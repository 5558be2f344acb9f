// conv_transposed: f32 2x4x5x6, f32 4x6x3x3
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x4x5x6xf32>, %arg1: tensor<4x6x3x3xf32>) -> tensor<2x6x9x11xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c2 = arith.constant 2 : index
    %0 = tensor.empty() : tensor<6x4x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6x4x3x3xf32>) -> tensor<6x4x3x3xf32>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%1 : tensor<6x4x3x3xf32>) {
    ^bb0(%out: f32):
      %8 = linalg.index 0 : index
      %9 = linalg.index 1 : index
      %10 = linalg.index 2 : index
      %11 = linalg.index 3 : index
      %12 = arith.subi %c2, %10 : index
      %13 = arith.subi %c2, %11 : index
      %extracted = tensor.extract %arg1[%9, %8, %12, %13] : tensor<4x6x3x3xf32>
      linalg.yield %extracted : f32
    } -> tensor<6x4x3x3xf32>
    %3 = tensor.empty() : tensor<2x4x11x13xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<2x4x11x13xf32>) -> tensor<2x4x11x13xf32>
    %inserted_slice = tensor.insert_slice %arg0 into %4[0, 0, 1, 1] [2, 4, 5, 6] [1, 1, 2, 2] : tensor<2x4x5x6xf32> into tensor<2x4x11x13xf32>
    %5 = tensor.empty() : tensor<2x6x9x11xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
    %7 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%inserted_slice, %2 : tensor<2x4x11x13xf32>, tensor<6x4x3x3xf32>) outs(%6 : tensor<2x6x9x11xf32>) -> tensor<2x6x9x11xf32>
    return %7 : tensor<2x6x9x11xf32>
  }
}
