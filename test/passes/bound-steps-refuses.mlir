// bound-steps: a loop that fills a ring, and one that multiplies. A function that says nothing of zeros is left alone.
// RUN: not mlir-gemm opt %s bound-steps 2>&1 | FileCheck %s

func.func @nothing_known() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}

func.func @no_loop() attributes {tile.zeros = "k>m"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: bound-steps-refuses.mlir:[[# @LINE + 1]]:3: error: expected one loop over k from 0 with 'tile.tma_load', in a tile.warp_specialize
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}
