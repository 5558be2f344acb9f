// What tma-multicast refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s tma-multicast 2>&1 | FileCheck %s

func.func @rows(%X: memref<512x512xf16>) {
  %z = arith.constant 0 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<24x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    // CHECK: tma-multicast-refuses.mlir:[[# @LINE + 1]]:5: error: a tile of 24 rows does not divide among the 2 blocks of a cluster into whole 8 rows
    "tile.tma_load"(%A, %X, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<24x64xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}
