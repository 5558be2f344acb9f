// find-triangles: a triangle is lower or upper.
// RUN: not mlir-gemm opt %s find-triangles 2>&1 | FileCheck %s

// CHECK: find-triangles-refuses.mlir:[[# @LINE + 1]]:1: error: 'tile.triangular' is "left"; expected "lower" or "upper"
func.func @left(%A: memref<64x64xf16> {tile.triangular = "left"}) {
  return
}
