// index-to-operands refuses index values that it cannot find out, and positions in bodies with other maps.
// RUN: not mlir-gemm opt %s index-to-operands --split-input-file 2>&1 | FileCheck %s

// CHECK: index-to-operands-refuses.mlir:[[# @LINE + 6]]:10: error: 'arith.addi' in a body uses an index value that is computed outside it; expected a constant, a position (linalg.index), or what is computed from elements
func.func @outside(%n: index) -> tensor<9xi64> {
  %e = tensor.empty() : tensor<9xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<9xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.addi %i, %n : index
    %k = arith.index_cast %j : index to i64
    linalg.yield %k : i64
  } -> tensor<9xi64>
  return %0 : tensor<9xi64>
}
