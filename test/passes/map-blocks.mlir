// RUN: mlir-gemm opt %s map-blocks cse | FileCheck %s
// RUN: mlir-gemm opt %s 'map-blocks{raster=row}' cse | FileCheck %s --check-prefix=ROWS
// RUN: mlir-gemm opt %s 'map-blocks{raster=column}' cse | FileCheck %s --check-prefix=COLUMNS
// RUN: mlir-gemm opt %s 'map-blocks{raster=grouped group=4}' cse map-blocks | FileCheck %s --check-prefix=FOURS

func.func private @tile(index, index)

// 10 rows do not split into groups of 8 or of 4: the height of the last group is computed.
// CHECK-LABEL: @ragged
// CHECK: scf.forall (%[[BLOCK:.*]]) in (30) {
// CHECK: %[[C24:.*]] = arith.constant 24 : index
// CHECK: %[[GROUP:.*]] = arith.divui %[[BLOCK]], %[[C24]]
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[C8]]
// CHECK: %[[INSIDE:.*]] = arith.remui %[[BLOCK]], %[[C24]]
// CHECK: %[[C10:.*]] = arith.constant 10 : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[C10]], %[[FIRST]]
// CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %[[C8]]
// CHECK: %[[DOWN:.*]] = arith.remui %[[INSIDE]], %[[HEIGHT]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[DOWN]]
// CHECK: %[[COLUMN:.*]] = arith.divui %[[INSIDE]], %[[HEIGHT]]
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
// RUN: mlir-gemm opt %s 'map-blocks{raster=row}' cse | FileCheck %s --check-prefix=BATCHES
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
