// drop-reference refuses a reference that keep-reference did not write.
// RUN: not mlir-gemm opt %s drop-reference 2>&1 | FileCheck %s

// CHECK: drop-reference-refuses.mlir:[[# @LINE + 1]]:1: error: 'tile.reference' is 4 : i64; expected
func.func @number() attributes {tile.reference = 4 : i64} {
  return
}
