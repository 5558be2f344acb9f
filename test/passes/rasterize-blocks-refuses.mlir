// What rasterize-blocks refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s rasterize-blocks 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'rasterize-blocks{raster_group=-1}' 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not mlir-gemm opt %s 'rasterize-blocks{cluster_m=4 cluster_n=4}' 2>&1 | FileCheck %s --check-prefix=SQUARE
// RUN: not mlir-gemm opt %s 'rasterize-blocks{split_k_cluster=16}' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlir-gemm opt --split-input-file %s 'rasterize-blocks{cluster_n=4}' 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not mlir-gemm opt --split-input-file %s 'rasterize-blocks{cluster_m=4}' 2>&1 | FileCheck %s --check-prefix=ROWS

// GROUP: error: pass 'rasterize-blocks': raster_group=-1; expected at least 1, or 0 for all tile rows
// SQUARE: cluster_m=4 cluster_n=4 split_k_cluster=1 space=all index_bits=64}': a cluster has 1 to 8 blocks
// MANY: split_k_cluster=16 space=all index_bits=64}': a cluster has 1 to 8 blocks

func.func @dynamic(%m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only a scf.parallel from 0 in steps of 1 can be mapped
  scf.parallel (%i, %j) = (%m, %c0) to (%m, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}

// -----

// Six operands, all constants, but one dimension: three of them start reductions.
func.func @reductions() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:10: error: only an scf.parallel of two or more dimensions without results
  %r:3 = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%c0, %c0, %c0) -> (index, index, index) {
    scf.reduce(%i, %i, %i : index, index, index) {
    ^bb0(%a: index, %b: index):
      scf.reduce.return %a : index
    }, {
    ^bb0(%a: index, %b: index):
      scf.reduce.return %a : index
    }, {
    ^bb0(%a: index, %b: index):
      scf.reduce.return %a : index
    }
  }
  return
}

// -----

func.func @step() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only a scf.parallel from 0 in steps of 1 can be mapped to the grid
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c4) {
    scf.reduce
  }
  return
}

// -----

func.func @empty() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: a grid of 0 by 1 blocks; expected at least one block
  scf.parallel (%i, %j) = (%c0, %c0) to (%c0, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}

// -----

func.func @nested() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    // CHECK: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:5: error: a parallel loop inside another cannot be mapped to the grid
    scf.parallel (%k, %l) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
      scf.reduce
    }
    scf.reduce
  }
  return
}

// -----

func.func @clusters(%n: index, %D: memref<24x6xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  // COLUMNS: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: tile columns of a number known at run time only do not divide into clusters of 4
  scf.parallel (%i, %j) = (%c0, %c0) to (%c6, %n) step (%c1, %c1) {
    %row = arith.muli %i, %c4 : index
    // ROWS: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:5: error: 'memref.store' is not tested against an edge, and 6 tile rows do not divide into clusters of 4
    memref.store %x, %D[%row, %j] : memref<24x6xf32>
    scf.reduce
  }
  return
}

// -----

func.func @known(%D: memref<384x96xf32>, %v: vector<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c6 = arith.constant 6 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c6, %c6) step (%c1, %c1) {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c16 : index
    // ROWS: rasterize-blocks-refuses.mlir:[[# @LINE + 2]]:5: error: 'tile.store' is not tested against an edge, and 6 tile rows do not divide into clusters of 4
    // COLUMNS: rasterize-blocks-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.store' is not tested against an edge, and 6 tile columns do not divide into clusters of 4
    "tile.store"(%v, %D, %row, %column) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x16xf32>, memref<384x96xf32>, index, index) -> ()
    scf.reduce
  }
  return
}
