// persistent-tile-scheduler with a number of tiles for each block: the blocks of a cluster share copies, so that they have
// the tiles of one cluster at a time.
// RUN: mlir-gemm opt %s 'persistent-tile-scheduler{tiles=5 sequential=true}' cse | FileCheck %s --check-prefix=NEAR
// RUN: mlir-gemm opt %s 'persistent-tile-scheduler{tiles=5}' cse | FileCheck %s --check-prefix=APART

// Two clusters of two: the first has five clusters of tiles, the second the last one.
// NEAR-LABEL: func.func @cluster(
//       NEAR:   scf.forall (%[[BLOCK:.*]]) in (4) {
//       NEAR:     %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %c2
//       NEAR:     %[[FIRST:.*]] = arith.muli %[[CLUSTER]], %c10
//       NEAR:     %[[NEXT:.*]] = arith.addi %[[FIRST]], %c10
//       NEAR:     %[[END:.*]] = arith.minui %[[NEXT]], %c12
//       NEAR:     %[[RANK:.*]] = arith.remui %[[BLOCK]], %c2
//       NEAR:     %[[OWN:.*]] = arith.addi %[[FIRST]], %[[RANK]]
//       NEAR:       scf.for %{{.*}} = %[[OWN]] to %[[END]] step %c2{{.*}} iter_args(
// APART-LABEL: func.func @cluster(
//       APART:   scf.forall (%[[BLOCK:.*]]) in (4) {
//       APART:       scf.for %{{.*}} = %[[BLOCK]] to %c12{{.*}} step %c4{{.*}} iter_args(
func.func @cluster() {
  scf.forall (%block) in (12) {
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}
