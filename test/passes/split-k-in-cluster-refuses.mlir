// What split-k-in-cluster refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s split-k-in-cluster 2>&1 | FileCheck %s

func.func @no_loop() {
  scf.forall (%block) in (16) {
    // CHECK: split-k-in-cluster-refuses.mlir:[[# @LINE + 1]]:5: error: no loop over k steps, so there is nothing to divide among blocks
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.split_k_cluster = 2 : i64}
  return
}

// -----

func.func @dynamic(%X: memref<64x512xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      // CHECK: split-k-in-cluster-refuses.mlir:[[# @LINE + 1]]:7: error: a loop over k steps that does not count from 0 in steps of 1 to a constant
      scf.for %step = %c0 to %n step %c1 {
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %step) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.split_k_cluster = 2 : i64}
  return
}

// -----

// Each part would add what the sum starts from.
func.func @start(%X: memref<64x512xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %step) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
      %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %sum = scf.for %step = %c0 to %c8 step %c1 iter_args(%acc = %c) -> (vector<64x64xf32>) {
        // CHECK: split-k-in-cluster-refuses.mlir:[[# @LINE + 1]]:17: error: a sum that does not start from zero cannot be divided: every slice would add it
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.split_k_cluster = 2 : i64}
  return
}
