// rasterize-blocks{space=k_range}: tiles with the longest range of k come first.
// RUN: mlir-gemm opt %s 'rasterize-blocks{space=k_range raster_group=1}' cse | FileCheck %s
// RUN: not mlir-gemm opt %s 'rasterize-blocks{space=upper}' 2>&1 | FileCheck %s --check-prefix=SQUARE

func.func private @tile(index, index)

// The last rows have most steps.
// CHECK-LABEL: func.func @lower(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (8) {
//       CHECK:     %[[ROW:.*]] = arith.divui %[[BLOCK]], %{{.*}} : index
//       CHECK:     %[[COLUMN:.*]] = arith.remui %[[BLOCK]], %{{.*}} : index
//       CHECK:     %[[C3:.*]] = arith.constant 3 : index
//       CHECK:     %[[LAST:.*]] = arith.subi %[[C3]], %[[ROW]]
//       CHECK:     @tile(%[[LAST]], %[[COLUMN]])
func.func @lower() attributes {tile.zeros = "k>m"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  // SQUARE: rasterize-blocks-k-range.mlir:[[# @LINE + 1]]:3: error: a triangle of 4 by 2 tiles; expected as many rows as columns
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c2) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// The first rows have.
// CHECK-LABEL: func.func @upper(
//       CHECK:     %[[ROW:.*]] = arith.divui
//   CHECK-NOT:     arith.subi
//       CHECK:     @tile(%[[ROW]],
func.func @upper() attributes {tile.zeros = "k<m"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c2) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}
