// rasterize-blocks: parallel block loops become one grid dimension, walked in a chosen order.
// RUN: mlir-gemm opt %s rasterize-blocks cse | FileCheck %s
// RUN: mlir-gemm opt %s 'rasterize-blocks{raster_group=1}' cse | FileCheck %s --check-prefix=ROWS
// RUN: mlir-gemm opt %s 'rasterize-blocks{raster_group=0}' cse | FileCheck %s --check-prefix=COLUMNS
// RUN: mlir-gemm opt %s 'rasterize-blocks{raster_group=4}' cse rasterize-blocks | FileCheck %s --check-prefix=FOURS
// RUN: mlir-gemm opt %s 'rasterize-blocks{raster_group=4 snake=true}' cse canonicalize | FileCheck %s --check-prefix=SNAKE

func.func private @tile(index, index)

// 10 rows do not split into groups of 8 or of 4: the height of the last group is computed, and the division by it is a
// product with 2^32 / 8, or 2^32 / 2 for the last one.
// CHECK-LABEL: @ragged
// CHECK: scf.forall (%[[BLOCK:.*]]) in (30) {
// CHECK: %[[C24:.*]] = arith.constant 24 : index
// CHECK: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %[[C24]]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[C8]]
// CHECK: %[[INSIDE:.*]] = arith.remui %[[BLOCK]], %[[C24]]
// CHECK: %[[LAST:.*]] = arith.cmpi uge, %[[BLOCK]], %[[C24]]
// CHECK-DAG: %[[HALF:.*]] = arith.constant 2147483648 : index
// CHECK-DAG: %[[EIGHTH:.*]] = arith.constant 536870912 : index
// CHECK: %[[INVERSE:.*]] = arith.select %[[LAST]], %[[HALF]], %[[EIGHTH]]
// CHECK: %[[NUMBER:.*]] = arith.muli %[[INSIDE]], %[[INVERSE]]
// CHECK: %[[COLUMN:.*]] = arith.shrui %[[NUMBER]], %{{.*}}
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %[[C8]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[COLUMN]], %[[HEIGHT]]
// CHECK: %[[DOWN:.*]] = arith.subi %[[INSIDE]], %[[WHOLE]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[DOWN]]
// CHECK: @tile(%[[ROW]], %[[COLUMN]])
// CHECK: } {mapping = [#gpu.block<x>]}

// ROWS-LABEL: @ragged
// ROWS: scf.forall (%[[BLOCK:.*]]) in (30) {
// ROWS: %[[C3:.*]] = arith.constant 3 : index
// ROWS: %[[ROW:.*]] = arith.divui %[[BLOCK]], %[[C3]]
// ROWS: %[[COLUMN:.*]] = arith.remui %[[BLOCK]], %[[C3]]
// ROWS: @tile(%[[ROW]], %[[COLUMN]])

// COLUMNS-LABEL: @ragged
// COLUMNS: scf.forall (%[[BLOCK:.*]]) in (30) {
// COLUMNS: %[[C10:.*]] = arith.constant 10 : index
// COLUMNS: %[[ROW:.*]] = arith.remui %[[BLOCK]], %[[C10]]
// COLUMNS: %[[COLUMN:.*]] = arith.divui %[[BLOCK]], %[[C10]]
// COLUMNS: @tile(%[[ROW]], %[[COLUMN]])

// Groups of 4 x 3 tiles; the second one is walked from the last column back.
// SNAKE-LABEL: @ragged
// SNAKE: scf.forall (%[[BLOCK:.*]]) in (30) {
// SNAKE: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %c12
// SNAKE: %[[COLUMN:[0-9]+]] = arith.shrui
// SNAKE: %[[ODD:.*]] = arith.remui %[[GROUP]], %c2
// SNAKE: %[[TURNED:.*]] = arith.cmpi ne, %[[ODD]], %c0
// SNAKE: %[[BACK:.*]] = arith.subi %c2, %[[COLUMN]]
// SNAKE: %[[AT:.*]] = arith.select %[[TURNED]], %[[BACK]], %[[COLUMN]]
// SNAKE: @tile(%{{.*}}, %[[AT]])

// FOURS-LABEL: @ragged
// FOURS: arith.constant 12 : index
// FOURS: %[[C4:.*]] = arith.constant 4 : index
// FOURS: arith.minui %{{.*}}, %[[C4]]
func.func @ragged() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c10, %c3) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// 8 rows do.
// CHECK-LABEL: @even
// CHECK-NOT: arith.minui
// CHECK: %[[INSIDE:.*]] = arith.remui %{{.*}}, %{{.*}}
// CHECK: %[[DOWN:.*]] = arith.remui %[[INSIDE]], %[[C8:.*]] : index
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[DOWN]]
// CHECK: %[[COLUMN:.*]] = arith.divui %[[INSIDE]], %[[C8]]
// CHECK: @tile(%[[ROW]], %[[COLUMN]])
func.func @even() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c3) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// A group is never higher than the grid: 2 rows make one group, so column by column.
// CHECK-LABEL: @low
// CHECK: arith.constant 6 : index
// CHECK: arith.constant 2 : index
// CHECK-NOT: arith.minui
func.func @low() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c3) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// Batches one after another; a dimension of one batch takes no arithmetic.
// RUN: mlir-gemm opt %s 'rasterize-blocks{raster_group=1}' cse | FileCheck %s --check-prefix=BATCHES
// BATCHES-LABEL: @batches
// BATCHES: scf.forall (%[[BLOCK:.*]]) in (30) {
// BATCHES: %[[C6:.*]] = arith.constant 6 : index
// BATCHES: %[[BATCH:.*]] = arith.divui %[[BLOCK]], %[[C6]]
// BATCHES: %[[C0:.*]] = arith.constant 0 : index
// BATCHES: %[[C5:.*]] = arith.constant 5 : index
// BATCHES: %[[H:.*]] = arith.remui %[[BATCH]], %[[C5]]
// BATCHES: %[[IN:.*]] = arith.remui %[[BLOCK]], %[[C6]]
// BATCHES: %[[ROW:.*]] = arith.divui %[[IN]],
// BATCHES: %[[COLUMN:.*]] = arith.remui %[[IN]],
// BATCHES: @batch(%[[H]], %[[C0]], %[[ROW]], %[[COLUMN]])
func.func private @batch(index, index, index, index)
func.func @batches() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%h, %g, %i, %j) = (%c0, %c0, %c0, %c0) to (%c5, %c1, %c2, %c3) step (%c1, %c1, %c1, %c1) {
    func.call @batch(%h, %g, %i, %j) : (index, index, index, index) -> ()
  }
  return
}

// Clusters are placed as blocks are elsewhere; in one, blocks go by their rank: below each other, beside each other, or at
// the same tile.
// RUN: sed '/^func.func @clusters(/,/^}/!s/.*//' %s | mlir-gemm opt - 'rasterize-blocks{raster_group=1 cluster_m=2}' cse | FileCheck %s --check-prefix=BELOW
// RUN: sed '/^func.func @clusters(/,/^}/!s/.*//' %s | mlir-gemm opt - 'rasterize-blocks{raster_group=0 cluster_n=2}' cse | FileCheck %s --check-prefix=BESIDE
// RUN: sed '/^func.func @clusters(/,/^}/!s/.*//' %s | mlir-gemm opt - 'rasterize-blocks{raster_group=1 split_k_cluster=4}' cse | FileCheck %s --check-prefix=SPLIT
// BELOW: scf.forall (%[[BLOCK:.*]]) in (48) {
// BELOW: %[[RANK:.*]] = "tile.rank"()
// BELOW: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %c2{{.*}} : index
// BELOW: %[[DOWN:.*]] = arith.divui %[[CLUSTER]], %c6
// BELOW: %[[COLUMN:.*]] = arith.remui %[[CLUSTER]], %c6
// BELOW: %[[FIRST:.*]] = arith.muli %[[DOWN]], %c2
// BELOW: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[RANK]]
// BELOW: vector.store %{{.*}}[%[[ROW]], %[[COLUMN]]]
// BELOW: } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}

// BESIDE: %[[RANK:.*]] = "tile.rank"()
// BESIDE: %[[CLUSTER:.*]] = arith.divui %{{.*}}, %c2{{.*}} : index
// BESIDE: %[[ROW:.*]] = arith.remui %[[CLUSTER]], %c8
// BESIDE: %[[ALONG:.*]] = arith.divui %[[CLUSTER]], %c8
// BESIDE: %[[FIRST:.*]] = arith.muli %[[ALONG]], %c2
// BESIDE: %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[RANK]]
// BESIDE: vector.store %{{.*}}[%[[ROW]], %[[COLUMN]]]

// SPLIT: scf.forall (%[[BLOCK:.*]]) in (192) {
// SPLIT: %[[TILE:.*]] = arith.divui %[[BLOCK]], %c4
// SPLIT: %[[ROW:.*]] = arith.divui %[[TILE]], %c6
// SPLIT: %[[COLUMN:.*]] = arith.remui %[[TILE]], %c6
// SPLIT: vector.store %{{.*}}[%[[ROW]], %[[COLUMN]]]
// SPLIT: tile.cluster = 4 : i64, tile.split_k_cluster = 4 : i64}
func.func @clusters(%D: memref<8x6xf32>, %v: vector<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c6) step (%c1, %c1) {
    vector.store %v, %D[%i, %j] : memref<8x6xf32>, vector<1xf32>
    scf.reduce
  }
  return
}

// Clusters that reach over an edge at which stores are tested: 5 by 3 tiles in clusters of 2 by 4 are 6 by 4.
// RUN: sed '/^func.func @edges(/,/^}/!s/.*//' %s | mlir-gemm opt - 'rasterize-blocks{raster_group=1 cluster_m=2 cluster_n=4}' cse | FileCheck %s --check-prefix=EDGES
// EDGES: scf.forall (%[[BLOCK:.*]]) in (24) {
// EDGES: %[[ROW:.*]] = "tile.rank"()
// EDGES: %[[COLUMN:.*]] = "tile.rank"()
// EDGES: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %c8
// EDGES: %[[DOWN:.*]] = arith.divui %[[CLUSTER]], %c1
// EDGES: arith.muli %[[DOWN]], %c2
// EDGES: "tile.store"
// EDGES: tile.cluster = 8 : i64, tile.cluster_rows = 2 : i64}
func.func @edges(%D: memref<300x40xf32>, %v: vector<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c5, %c3) step (%c1, %c1) {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c16 : index
    "tile.store"(%v, %D, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x16xf32>, memref<300x40xf32>, index, index) -> ()
    scf.reduce
  }
  return
}
