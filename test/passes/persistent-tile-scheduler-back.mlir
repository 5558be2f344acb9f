// persistent-tile-scheduler, back: every other round of tiles goes backwards, so that each block gets as many steps of k
// where the first tiles have most. A second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=4 back=true}' cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=4 back=true}' 'persistent-tile-scheduler{blocks=2 back=true}' cse | FileCheck %s
// RUN: sed '/^func.func @ranges/,/^}/!s/.*//' %s | mlir-gemm opt - 'persistent-tile-scheduler{blocks=4 consumers=2 back=true}' cse | FileCheck %s --check-prefix=TURNS

// Three rounds of four, and two tiles: the fourth round goes backwards, so blocks 3 and 2 have these.
// CHECK-LABEL: func.func @ranges(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (4) {
//       CHECK:     %[[MIRRORED:.*]] = arith.subi %c3{{.*}}, %[[BLOCK]]
//       CHECK:     %[[NONE:.*]] = arith.cmpi uge, %[[MIRRORED]], %c2
//       CHECK:     %[[END:.*]] = arith.select %[[NONE]], %c12{{.*}}, %c16
//       CHECK:     "tile.warp_specialize"
//       CHECK:       scf.for %[[PLACE:.*]] = %[[BLOCK]] to %[[END]] step %c4
//       CHECK:         %[[ROUND:.*]] = arith.divui %[[PLACE]], %c4
//       CHECK:         %[[INSIDE:.*]] = arith.remui %[[PLACE]], %c4
//       CHECK:         %[[ODD:.*]] = arith.remui %[[ROUND]], %c2
//       CHECK:         %[[BACK:.*]] = arith.cmpi uge, %[[ODD]], %c1
//       CHECK:         %[[TURNED:.*]] = arith.subi %c3{{.*}}, %[[INSIDE]]
//       CHECK:         %[[FIRST:.*]] = arith.muli %[[ROUND]], %c4
//       CHECK:         %[[AT:.*]] = arith.select %[[BACK]], %[[TURNED]], %[[INSIDE]]
//       CHECK:         %[[TILE:.*]] = arith.addi %[[FIRST]], %[[AT]]
//       CHECK:         arith.subi %c14{{.*}}, %[[TILE]]

// The second consumer starts after the steps of the first tile, and each goes past those of the other's tile, a number
// of steps that is computed from that tile.
// TURNS-LABEL: func.func @ranges(
//       TURNS:   }, {
//       TURNS:     %[[AT:.*]]:2 = "tile.enter"()
//       TURNS:     %[[LEAST:.*]] = arith.minui %{{.*}}, %c13
//       TURNS:     %[[STEPS:.*]] = arith.subi %c14{{.*}}, %[[LEAST]]
//       TURNS:     "tile.advance"(%[[AT]]#0, %[[AT]]#1, %[[STEPS]]) {stages = 2 : i64}
//       TURNS:     scf.for %[[PLACE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
//       TURNS:       %[[NEXT:.*]] = arith.addi %[[PLACE]], %c4
//       TURNS:       %[[LEAST:.*]] = arith.minui %{{.*}}, %c13
//       TURNS:       %[[STEPS:.*]] = arith.subi %c14{{.*}}, %[[LEAST]]
//       TURNS:       "tile.advance"(%{{.*}}, %{{.*}}, %[[STEPS]]) {stages = 2 : i64}
func.func @ranges(%S: memref<2x64x64xf16, 3>, %v: vector<64x64xf32>, %D: memref<896x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c14 = arith.constant 14 : index
  scf.forall (%tile) in (14) {
    %left = arith.subi %c14, %tile : index
    %row = arith.muli %tile, %c64 : index
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      %end:2 = scf.for %k = %c0 to %left step %c1 iter_args(%s = %slot, %p = %phase) -> (index, i32) {
        "tile.producer_acquire"(%bars, %s, %p) {bytes = 8192 : i64} : (memref<2x2xi64, 3>, index, i32) -> ()
        %next:2 = "tile.advance"(%s, %p, %c1) {stages = 2 : i64} : (index, i32, index) -> (index, i32)
        scf.yield %next#0, %next#1 : index, i32
      }
      "tile.leave"(%end#0, %end#1) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%bars, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
      %on:2 = "tile.advance"(%slot, %phase, %c1) {stages = 2 : i64} : (index, i32, index) -> (index, i32)
      %end:2 = scf.for %k = %c1 to %left step %c1 iter_args(%s = %on#0, %p = %on#1) -> (index, i32) {
        "tile.consumer_wait"(%bars, %s, %p) : (memref<2x2xi64, 3>, index, i32) -> ()
        "tile.consumer_release"(%bars, %s) : (memref<2x2xi64, 3>, index) -> ()
        %next:2 = "tile.advance"(%s, %p, %c1) {stages = 2 : i64} : (index, i32, index) -> (index, i32)
        scf.yield %next#0, %next#1 : index, i32
      }
      %sum = "tile.mma_wait"(%v) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.leave"(%end#0, %end#1) : (index, i32) -> ()
      "tile.store"(%sum, %D, %row, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<896x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// It is clusters that go backwards; the blocks of one keep their order.
// CHECK-LABEL: func.func @clusters(
//       CHECK:   scf.forall (%{{.*}}) in (4) {
//       CHECK:       scf.for %[[PLACE:.*]] = %{{.*}} to %c8{{.*}} step %c4
//       CHECK:         %[[INSIDE:.*]] = arith.remui %[[PLACE]], %c4
//       CHECK:         %[[CLUSTER:.*]] = arith.divui %[[INSIDE]], %c2
//       CHECK:         %[[OTHER:.*]] = arith.subi %c1{{.*}}, %[[CLUSTER]]
//       CHECK:         %[[FIRST:.*]] = arith.muli %[[OTHER]], %c2
//       CHECK:         %[[RANK:.*]] = arith.remui %[[INSIDE]], %c2
//       CHECK:         arith.addi %[[FIRST]], %[[RANK]]
func.func @clusters() {
  scf.forall (%tile) in (8) {
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

// -----

// A number of tiles that is known at run time only: in order.
// CHECK-LABEL: func.func @dynamic(
//       CHECK:     scf.for %{{.*}} = %{{.*}} to %arg0 step %{{.*}} iter_args(
//   CHECK-NOT:       arith.remui
//       CHECK:   return
func.func @dynamic(%tiles: index) {
  scf.forall (%block) in (%tiles) {
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
