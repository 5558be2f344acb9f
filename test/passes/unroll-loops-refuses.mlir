// What unroll-loops refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s unroll-loops 2>&1 | FileCheck %s
// RUN: mlir-gemm opt %s 'unroll-loops{level=other}' | FileCheck %s --check-prefix=OTHER

// Loops of another level are left alone.
// OTHER: scf.for
// OTHER: scf.for
// OTHER: scf.for
func.func @dynamic(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: unroll-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a loop whose bounds are not constant cannot be unrolled
  scf.for %i = %c0 to %n step %c1 {
  } {tile.loop = "warp_k"}
  return
}

// -----

func.func @step() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK: unroll-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a loop in steps of 0 cannot be unrolled; expected at least 1
  scf.for %i = %c0 to %c4 step %c0 {
  } {tile.loop = "warp_k"}
  return
}

// -----

func.func @long() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 2147483648 : index
  // CHECK: unroll-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a loop from 0 to 2147483648 in steps of 1 is too long; at most 4096 are unrolled
  scf.for %i = %c0 to %end step %c1 {
  } {tile.loop = "warp_k"}
  return
}
