// open-steps: how many steps there are in all must be known.
// RUN: not mlir-gemm opt %s open-steps 2>&1 | FileCheck %s

// CHECK: error: a k loop that does not count from 0 in steps of 1 to a known number of at least 1
func.func @open(%n: index) {
  affine.for %k = 0 to %n {
  } {tile.loop = "k"}
  return
}
