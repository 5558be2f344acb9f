// What persistent-tile-scheduler refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=2}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'persistent-tile-scheduler{blocks=0}' 2>&1 | FileCheck %s --check-prefix=NONE

// RUN: not mlir-gemm opt %s 'persistent-tile-scheduler{consumers=3}' 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: not mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=2 consumers=2}' 2>&1 | FileCheck %s --check-prefix=TWO

// RUN: not mlir-gemm opt %s 'persistent-tile-scheduler{tiles=-1}' 2>&1 | FileCheck %s --check-prefix=LESS

// LESS: error: pass 'persistent-tile-scheduler{blocks=1 consumers=1 tiles=-1 sequential=false back=false}': expected at least 1 block
// NONE: error: pass 'persistent-tile-scheduler{blocks=0 consumers=1 tiles=0 sequential=false back=false}': expected at least 1 block, and 1 or 2 consumers
// TURNS: error: pass 'persistent-tile-scheduler{blocks=1 consumers=3 tiles=0 sequential=false back=false}': expected at least 1 block, and 1 or 2 consumers

func.func @two_dimensions() {
  // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall over one dimension, from 0 in steps of 1, is walked by blocks
  scf.forall (%row, %column) in (4, 4) {
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return
}

// -----

func.func @steps() {
  // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall over one dimension, from 0 in steps of 1, is walked by blocks
  scf.forall (%block) = (0) to (16) step (4) {
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @two_roles() {
  // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:3: error: blocks that walk tiles need one tile.warp_specialize, directly in the loop over blocks
  scf.forall (%block) in (16) {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @nested(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:3: error: blocks that walk tiles need one tile.warp_specialize, directly in the loop over blocks
  scf.forall (%block) in (16) {
    scf.for %i = %c0 to %n step %c1 {
      "tile.warp_specialize"() ({
      ^bb0:
      }, {
      ^bb0:
      }) : () -> ()
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @beside(%A: memref<16x16xf32>, %v: vector<16x16xf32>) {
  scf.forall (%block) in (16) {
    %z = arith.constant 0 : index
    // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.store' beside the roles of a block cannot be repeated for each tile
    "tile.store"(%v, %A, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @cluster() {
  // CHECK: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:3: error: 2 blocks do not make whole clusters of 4
  scf.forall (%block) in (16) {
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64}
  return
}

// -----

func.func @no_steps() {
  scf.forall (%block) in (16) {
    // TWO: persistent-tile-scheduler-refuses.mlir:[[# @LINE + 1]]:5: error: a producer without one loop over k steps cannot serve two consumers alternately
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
