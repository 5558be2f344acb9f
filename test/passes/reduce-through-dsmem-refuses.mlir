// What reduce-through-dsmem refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s reduce-through-dsmem 2>&1 | FileCheck %s

func.func @columns() {
  scf.forall (%block) in (2) {
    %v = arith.constant dense<0.0> : vector<64x24xf32>
    // CHECK: reduce-through-dsmem-refuses.mlir:[[# @LINE + 1]]:13: error: a tile of 24 columns does not divide into 2 parts of whole 8
    %done = "tile.mma_wait"(%v) {pending = 0 : i64} : (vector<64x24xf32>) -> vector<64x24xf32>
  } {mapping = [#gpu.block<x>], tile.split_k_cluster = 2 : i64, tile.warps = 8 : i64}
  return
}

// -----

func.func @matrix() {
  scf.forall (%block) in (2) {
    %zero = arith.constant dense<0> : vector<1x16xi32>
    // CHECK: reduce-through-dsmem-refuses.mlir:[[# @LINE + 1]]:10: error: a constant matrix that is not the same everywhere is not supported here
    %w = arith.constant dense<[[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : vector<1x16xi32>
    %done = "tile.mma_wait"(%zero) {pending = 0 : i64} : (vector<1x16xi32>) -> vector<1x16xi32>
    %sum = arith.addi %done, %w : vector<1x16xi32>
  } {mapping = [#gpu.block<x>], tile.split_k_cluster = 2 : i64, tile.warps = 8 : i64}
  return
}
