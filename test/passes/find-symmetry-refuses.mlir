// find-symmetry: only a square matrix can equal its transpose.
// RUN: not mlir-gemm opt %s find-symmetry 2>&1 | FileCheck %s

// CHECK: {{.*}}find-symmetry-refuses.mlir:[[# @LINE + 1]]:1: error: 'tile.symmetric' on memref<64x32xf16>; expected a square matrix
func.func @wide(%A: memref<64x32xf16> {tile.symmetric}) {
  return
}
