// mirror-stores: a square tile is stored at its mirror too, transposed; a second run changes nothing.
// RUN: mlir-gemm opt %s mirror-stores | FileCheck %s
// RUN: mlir-gemm opt %s mirror-stores mirror-stores | FileCheck %s
// RUN: mlir-gemm opt %s 'mirror-stores{half=lower}' cse | FileCheck %s --check-prefix=HALF
// RUN: mlir-gemm opt %s 'mirror-stores{half=lower}' 'mirror-stores{half=lower}' cse | FileCheck %s --check-prefix=HALF

// Clusters have tiles above the diagonal too: those are stored nowhere.
// HALF-LABEL: func.func @batch(
//       HALF:   scf.parallel (%[[BATCH:.*]], %[[I:.*]], %[[J:.*]]) =
//       HALF:     %[[ROW:.*]] = arith.muli %[[I]], %[[C32:.*]] : index
//       HALF:     %[[COLUMN:.*]] = arith.muli %[[J]], %[[C32]] : index
//       HALF:     %[[ABOVE:.*]] = arith.cmpi ult, %[[I]], %[[J]] : index
//       HALF:     %[[OWN:.*]] = arith.select %[[ABOVE]], %[[C100:.*]], %[[COLUMN]] : index
//       HALF:     "tile.store"(%[[V:.*]], %[[D:.*]], %[[BATCH]], %[[ROW]], %[[OWN]]) {in_bounds = array<i1: true, false, false>
//       HALF:     %[[ON:.*]] = arith.cmpi ule, %[[I]], %[[J]] : index
//       HALF:     %[[BEYOND:.*]] = arith.select %[[ON]], %[[C100]], %[[COLUMN]] : index
//       HALF:     "tile.store"(%[[V]], %[[D]], %[[BATCH]], %[[BEYOND]], %[[ROW]]) {apart, dims = array<i64: -1, 1, 0>
//   HALF-NOT:     tile.store

// A tile on the diagonal has no mirror: its row there is 100, the first beyond the memory.
// CHECK-LABEL: func.func @batch(
//       CHECK:   scf.parallel (%[[BATCH:.*]], %[[I:.*]], %[[J:.*]]) =
//       CHECK:     %[[ROW:.*]] = arith.muli %[[I]], %[[C32:.*]] : index
//       CHECK:     %[[COLUMN:.*]] = arith.muli %[[J]], %[[C32]] : index
//  CHECK-NEXT:     "tile.store"(%[[V:.*]], %[[D:.*]], %[[BATCH]], %[[ROW]], %[[COLUMN]]) {in_bounds = array<i1: true, false, true>
//  CHECK-NEXT:     %[[SAME:.*]] = arith.cmpi eq, %[[I]], %[[J]] : index
//  CHECK-NEXT:     %[[C100:.*]] = arith.constant 100 : index
//  CHECK-NEXT:     %[[BEYOND:.*]] = arith.select %[[SAME]], %[[C100]], %[[COLUMN]] : index
//  CHECK-NEXT:     "tile.store"(%[[V]], %[[D]], %[[BATCH]], %[[BEYOND]], %[[ROW]]) {apart, dims = array<i64: -1, 1, 0>, in_bounds = array<i1: true, false, false>
//   CHECK-NOT:     tile.store
func.func @batch(%D: memref<3x100x100xf32>, %v: vector<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%b, %i, %j) = (%c0, %c0, %c0) to (%c3, %c4, %c4) step (%c1, %c1, %c1) {
    %row = arith.muli %i, %c32 : index
    %column = arith.muli %j, %c32 : index
    "tile.store"(%v, %D, %b, %row, %column) {operandSegmentSizes = array<i32: 1, 1, 3>, in_bounds = array<i1: true, false, true>} : (vector<32x32xf32>, memref<3x100x100xf32>, index, index, index) -> ()
    scf.reduce
  }
  return
}
