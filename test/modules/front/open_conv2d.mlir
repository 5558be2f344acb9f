// open_conv2d: f32 2x4x9x7, f32 6x4x3x3
// Made by export.py with PyTorch 2.13.0 and torch-mlir.
module {
  func.func @main(%arg0: tensor<?x4x?x?xf32>, %arg1: tensor<6x4x3x3xf32>) -> tensor<?x6x?x?xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %c-1_i64 = arith.constant -1 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x4x?x?xf32>
    %dim_0 = tensor.dim %arg0, %c2 : tensor<?x4x?x?xf32>
    %dim_1 = tensor.dim %arg0, %c3 : tensor<?x4x?x?xf32>
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : f32
    } : tensor<?x4x?x?xf32> to tensor<?x4x?x?xf32>
    %0 = arith.index_cast %dim_0 : index to i64
    %1 = arith.addi %0, %c-1_i64 : i64
    %2 = arith.floordivsi %1, %c2_i64 : i64
    %3 = arith.addi %2, %c1_i64 : i64
    %4 = arith.index_cast %3 : i64 to index
    %5 = arith.index_cast %dim_1 : index to i64
    %6 = arith.addi %5, %c-1_i64 : i64
    %7 = arith.floordivsi %6, %c2_i64 : i64
    %8 = arith.addi %7, %c1_i64 : i64
    %9 = arith.index_cast %8 : i64 to index
    %10 = tensor.empty(%dim, %4, %9) : tensor<?x6x?x?xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<?x6x?x?xf32>) -> tensor<?x6x?x?xf32>
    %12 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %arg1 : tensor<?x4x?x?xf32>, tensor<6x4x3x3xf32>) outs(%11 : tensor<?x6x?x?xf32>) -> tensor<?x6x?x?xf32>
    return %12 : tensor<?x6x?x?xf32>
  }
}
