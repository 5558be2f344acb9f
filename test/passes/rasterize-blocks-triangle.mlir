// rasterize-blocks{space=triangle}: the tiles on and below the diagonal, folded into a rectangle that the raster walks.
// RUN: mlir-gemm opt %s 'rasterize-blocks{space=triangle raster_group=1}' cse | FileCheck %s
// RUN: not mlir-gemm opt %s 'rasterize-blocks{space=triangle cluster_n=2}' 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not mlir-gemm opt %s 'rasterize-blocks{space=band}' 2>&1 | FileCheck %s --check-prefix=BAND

// CLUSTER: expected space=all, triangle, lower, upper or k_range, and no clusters in a triangle
// BAND: expected space=all, triangle, lower, upper or k_range, and no clusters in a triangle

func.func private @tile(index, index)

// 4 rows: the fourth and the first are a row of 5 tiles, the third and the second another.
// CHECK-LABEL: func.func @even(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (10) {
//       CHECK:     %[[P:.*]] = arith.divui %[[BLOCK]], %[[C5:.*]] : index
//       CHECK:     %[[Q:.*]] = arith.remui %[[BLOCK]], %[[C5]] : index
//       CHECK:     %[[LONG:.*]] = arith.subi %{{.*}}, %[[P]] : index
//       CHECK:     %[[COUNT:.*]] = arith.addi %[[LONG]], %{{.*}} : index
//       CHECK:     %[[IN:.*]] = arith.cmpi ult, %[[Q]], %[[COUNT]] : index
//       CHECK:     %[[ROW:.*]] = arith.select %[[IN]], %[[LONG]], %[[P]] : index
//       CHECK:     %[[LEFT:.*]] = arith.subi %[[Q]], %[[COUNT]] : index
//       CHECK:     %[[COLUMN:.*]] = arith.select %[[IN]], %[[Q]], %[[LEFT]] : index
//       CHECK:     @tile(%[[ROW]], %[[COLUMN]])
func.func @even() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}

// 5 rows: the fifth alone is a row of 5 tiles, then the fourth and the first, the third and the second.
// CHECK-LABEL: func.func @odd(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (15) {
//       CHECK:     %[[P:.*]] = arith.divui %[[BLOCK]], %{{.*}} : index
//       CHECK:     %[[SHORT:.*]] = arith.subi %[[P]], %{{.*}} : index
//       CHECK:     arith.select %{{.*}}, %{{.*}}, %[[SHORT]] : index
func.func @odd() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c5, %c5) step (%c1, %c1) {
    func.call @tile(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  return
}
