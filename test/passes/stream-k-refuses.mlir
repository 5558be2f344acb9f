// What stream-k refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'stream-k{blocks=5 share=2}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'stream-k{blocks=5 share=0}' 2>&1 | FileCheck %s --check-prefix=SHARE
// SHARE: pass 'stream-k{blocks=5 share=0}': expected at least 1 block, and 1 range for each tile

func.func @dynamic(%tiles: index) {
  // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:3: error: the steps of a number of tiles that is not known cannot be shared evenly
  scf.forall (%block) in (%tiles) {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @cluster() {
  // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:3: error: 5 blocks do not make whole clusters of 2
  scf.forall (%block) in (12) {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}

// -----

func.func @split() {
  // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:3: error: blocks of a cluster that share the steps of a tile cannot share them with others
  scf.forall (%block) in (12) {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 5 : i64, tile.split_k_cluster = 5 : i64}
  return
}

// -----

func.func @no_loop() {
  scf.forall (%block) in (12) {
    // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:5: error: the steps of one product in a loop can be shared; expected one, of two steps or more
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Each part would add what the sum starts from.
func.func @start(%X: memref<64x512xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%block) in (12) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %step) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
      %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %sum = scf.for %step = %c0 to %c8 step %c1 iter_args(%acc = %c) -> (vector<64x64xf32>) {
        // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:17: error: a sum that does not start from zero cannot be divided: every slice would add it
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
      %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @unknown(%X: memref<768x512xf16>, %given: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (12) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      // CHECK: stream-k-refuses.mlir:[[# @LINE + 1]]:7: error: numbers of k steps of tiles that are not known cannot be shared evenly
      scf.for %step = %c0 to %given step %c1 {
        "tile.tma_load"(%A, %X, %bars, %at#0, %c0, %step) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<768x512xf16>, memref<2x2xi64, 3>, index, index, index) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      %sum = scf.for %step = %c0 to %given step %c1 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
      %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
