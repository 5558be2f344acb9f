// bound-steps: a loop that fills a ring, and one that multiplies. A function that says nothing of zeros is left alone.
// RUN: not mlir-gemm opt %s --split-input-file bound-steps 2>&1 | FileCheck %s

func.func @nothing_known() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}

// -----

func.func @list() attributes {tile.zeros = "k/64 not in m/64: 1 2"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = "tile.step_range"() {steps = 2 : i64} : () -> (index, index)
  // CHECK: bound-steps-refuses.mlir:[[# @LINE + 1]]:3: error: a list of blocks, and a loop over k without a ring
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}

// -----

func.func @no_loop() attributes {tile.zeros = "k>m"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: bound-steps-refuses.mlir:[[# @LINE + 1]]:3: error: expected one loop over k from 0 with 'tile.tma_load', in a tile.warp_specialize
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}
