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

// What is not a multiple of a step's 32 is no place of a step.
func.func @list(%A: memref<64x32xf16, 3>, %B: memref<32x64xf16, 3>, %G: memref<64x64xf16>, %s: vector<64x64xf32>) attributes {tile.zeros = "k/32 not in m/64: 1 2"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = "tile.step_range"() {steps = 2 : i64} : () -> (index, index)
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    // CHECK: bound-steps-refuses.mlir:[[# @LINE + 1]]:5: error: a place along k that is not known to be a multiple of 32
    "tile.copy"(%B, %G, %0#0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<64x64xf16>, index, index) -> ()
    %1 = "tile.mma"(%A, %B, %s) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
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
