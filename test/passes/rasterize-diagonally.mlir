// rasterize-diagonally: parallel block loops become one grid dimension, walked one diagonal of tiles after another.
// RUN: mlir-gemm opt %s rasterize-diagonally cse | FileCheck %s
// RUN: mlir-gemm opt %s rasterize-diagonally cse rasterize-diagonally | FileCheck %s

func.func private @tile(index, index)

// CHECK-LABEL: @rectangle
// CHECK: scf.forall (%[[BLOCK:.*]]) in (15) {
// CHECK: %[[ROWS:.*]] = arith.constant 5 : index
// CHECK: %[[ROW:.*]] = arith.remui %[[BLOCK]], %[[ROWS]]
// CHECK: %[[DIAGONAL:.*]] = arith.divui %[[BLOCK]], %[[ROWS]]
// CHECK: %[[SUM:.*]] = arith.addi %[[ROW]], %[[DIAGONAL]]
// CHECK: %[[COLUMNS:.*]] = arith.constant 3 : index
// CHECK: %[[COLUMN:.*]] = arith.remui %[[SUM]], %[[COLUMNS]]
// CHECK: @tile(%[[ROW]], %[[COLUMN]])
func.func @rectangle() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c5, %c3) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// Sizes known at run time only.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[M:.*]]: index, %[[N:.*]]: index
// CHECK: %[[ROW:.*]] = arith.remui %{{.*}}, %[[M]]
// CHECK: %[[DIAGONAL:.*]] = arith.divui %{{.*}}, %[[M]]
// CHECK: %[[SUM:.*]] = arith.addi %[[ROW]], %[[DIAGONAL]]
// CHECK: arith.remui %[[SUM]], %[[N]]
func.func @dynamic(%m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}
