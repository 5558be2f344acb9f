// rasterize-blocks{space=triangle}: the tiles on and below the diagonal, folded into a rectangle that the raster walks.
// RUN: mlir-gemm opt %s 'rasterize-blocks{space=triangle raster_group=1}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'rasterize-blocks{space=triangle raster_group=1 cluster_n=2}' cse | FileCheck %s --check-prefix=CLUSTER
// RUN: mlir-gemm opt %s 'rasterize-blocks{space=upper raster_group=1 cluster_m=2}' cse | FileCheck %s --check-prefix=UPPER
// RUN: not mlir-gemm opt %s 'rasterize-blocks{space=band}' 2>&1 | FileCheck %s --check-prefix=BAND

// BAND: expected space=all, triangle, lower, upper or k_range{{$}}

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

// Clusters of two beside each other: of two rows of squares of 2 x 2 tiles the second has two and the first one, which
// are one row of three squares, six clusters. A square has two clusters, one below the other; it is found without the
// rank of the block, which only says in which of the two columns its tile lies.
// CLUSTER-LABEL: func.func @even(
//       CLUSTER:   scf.forall (%[[BLOCK:.*]]) in (12) {
//       CLUSTER:     %[[RANK:.*]] = "tile.rank"()
//       CLUSTER:     %[[NUMBER:.*]] = arith.divui %[[BLOCK]], %[[C2:.*]] : index
//       CLUSTER:     %[[P:.*]] = arith.divui %[[NUMBER]], %[[C3:.*]] : index
//       CLUSTER:     %[[Q:.*]] = arith.remui %[[NUMBER]], %[[C3]] : index
//       CLUSTER:     %[[SQUARE:.*]] = arith.divui %[[P]], %[[C2]] : index
//       CLUSTER:     %[[IN:.*]] = arith.cmpi ult, %[[Q]], %{{.*}} : index
//       CLUSTER:     %[[DOWN:.*]] = arith.select %[[IN]], %{{.*}}, %[[SQUARE]] : index
//       CLUSTER:     %[[ALONG:.*]] = arith.select %[[IN]], %[[Q]], %{{.*}} : index
//       CLUSTER:     %[[FIRST:.*]] = arith.muli %[[DOWN]], %[[C2]]
//       CLUSTER:     %[[INSIDE:.*]] = arith.remui %[[P]], %[[C2]] : index
//       CLUSTER:     %[[ROW:.*]] = arith.addi %[[FIRST]], %[[INSIDE]]
//       CLUSTER:     %[[LEFT:.*]] = arith.muli %[[ALONG]], %[[C2]]
//       CLUSTER:     %[[COLUMN:.*]] = arith.addi %[[LEFT]], %[[RANK]]
//       CLUSTER:     @tile(%[[ROW]], %[[COLUMN]])

// Of the upper half rows and columns of squares are exchanged, and the cluster's blocks lie below each other.
// UPPER-LABEL: func.func @even(
//       UPPER:   scf.forall (%{{.*}}) in (12) {
//       UPPER:     %[[RANK:.*]] = "tile.rank"()
//       UPPER:     %[[DOWN:[0-9]+]] = arith.select %[[IN:[0-9]+]], %{{.*}} : index
//       UPPER:     %[[ALONG:[0-9]+]] = arith.select %[[IN]], %{{.*}} : index
//       UPPER:     %[[LEFT:.*]] = arith.muli %[[DOWN]], %{{.*}}
//       UPPER:     %[[COLUMN:.*]] = arith.addi %[[LEFT]], %{{.*}}
//       UPPER:     %[[TOP:.*]] = arith.muli %[[ALONG]], %{{.*}}
//       UPPER:     %[[ROW:.*]] = arith.addi %[[TOP]], %[[RANK]]
//       UPPER:     @tile(%[[ROW]], %[[COLUMN]])
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
