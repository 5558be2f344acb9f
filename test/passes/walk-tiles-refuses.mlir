// What walk-tiles refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s walk-tiles 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'walk-tiles{tiles=0}' 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: pass 'walk-tiles{tiles=0 sequential=true}': expected at least 1 tile

func.func @cluster() {
  // CHECK: walk-tiles-refuses.mlir:[[# @LINE + 1]]:3: error: blocks of a cluster share copies, and walk no tiles of their own
  scf.forall (%block) in (10) {
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}

// -----

func.func @plane() {
  // CHECK: walk-tiles-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall over one dimension, from 0 in steps of 1, is walked by blocks
  scf.forall (%i, %j) in (2, 3) {
  } {mapping = [#gpu.block<x>, #gpu.block<y>]}
  return
}
