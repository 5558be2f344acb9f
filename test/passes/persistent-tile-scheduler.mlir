// persistent-tile-scheduler: a fixed number of blocks walk all tiles; the position in the ring goes from one tile to the next. A
// second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=3}' cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=3}' 'persistent-tile-scheduler{blocks=2}' cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{blocks=12}' | FileCheck %s --check-prefix=ENOUGH
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{tiles=5 sequential=true}' cse | FileCheck %s --check-prefix=NEAR
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{tiles=5}' cse | FileCheck %s --check-prefix=APART
// RUN: mlir-gemm opt --split-input-file %s 'persistent-tile-scheduler{tiles=1 sequential=true}' | FileCheck %s --check-prefix=ENOUGH
// RUN: sed '/^func.func @turns/,/^}/!s/.*//' %s | mlir-gemm opt - 'persistent-tile-scheduler{blocks=3 consumers=2}' cse | FileCheck %s --check-prefix=TURNS
// RUN: sed '/^func.func @turns/,/^}/!s/.*//' %s | mlir-gemm opt - 'persistent-tile-scheduler{blocks=20 consumers=2}' cse | FileCheck %s --check-prefix=FEW

// With turns there are two groups of consumers however few tiles there are.
// FEW: scf.forall (%{{.*}}) in (12) {
// FEW: "tile.consumer_id"
// FEW: tile.ping_pong = 2 : i64

// CHECK-LABEL: func.func @tiles(
//  CHECK-SAME: %[[D:.*]]: memref<96x64xf32>
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (3) {
// What a block has once, whatever tiles it gets.
//  CHECK-NEXT:     %[[BARS:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
//  CHECK-NEXT:     "tile.ring"(%[[BARS]]) {consumers = 1 : i64}
//  CHECK-NEXT:     "tile.warp_specialize"() ({
//       CHECK:       %[[AT:.*]]:2 = "tile.enter"()
//       CHECK:       %[[LOOP:.*]]:2 = scf.for %[[TILE:.*]] = %[[BLOCK]] to %c12{{.*}} step %c3{{.*}} iter_args(%[[SLOT:.*]] = %[[AT]]#0, %[[PHASE:.*]] = %[[AT]]#1) -> (index, i32) {
//       CHECK:         "tile.producer_acquire"(%[[BARS]], %[[SLOT]], %[[PHASE]]) {bytes = 8192 : i64}
//       CHECK:         %[[NEXT:.*]] = arith.index_cast %[[PHASE]]
//       CHECK:         scf.yield %[[NEXT]], %[[PHASE]] :
//  CHECK-NEXT:       } {tile.tiles}
//  CHECK-NEXT:       "tile.leave"(%[[LOOP]]#0, %[[LOOP]]#1)
//  CHECK-NEXT:     }, {
//       CHECK:       %[[AT:.*]]:2 = "tile.enter"()
//       CHECK:       %[[LOOP:.*]]:2 = scf.for %[[TILE:.*]] = %[[BLOCK]] to %c12{{.*}} step %c3{{.*}} iter_args(%[[SLOT:.*]] = %[[AT]]#0, %[[PHASE:.*]] = %[[AT]]#1) -> (index, i32) {
// The tile's place is computed from its number.
//       CHECK:         %[[ROW:.*]] = arith.muli %[[TILE]], %c8
//       CHECK:         "tile.consumer_wait"(%[[BARS]], %[[SLOT]], %[[PHASE]])
//       CHECK:         "tile.store"(%{{.*}}, %[[D]], %[[ROW]], %{{.*}})
//       CHECK:       } {tile.tiles}
//       CHECK:       "tile.leave"(%[[LOOP]]#0, %[[LOOP]]#1)
//       CHECK:   } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
//   CHECK-NOT:   tile.

// No more tiles than blocks: each has its own, and nothing changes.
// ENOUGH-LABEL: func.func @tiles(
//       ENOUGH:   scf.forall (%{{.*}}) in (12) {
//   ENOUGH-NOT:   scf.for
//       ENOUGH:   return
func.func @tiles(%D: memref<96x64xf32>, %v: vector<8x64xf32>) {
  scf.forall (%block) in (12) {
    %c8 = arith.constant 8 : index
    %row = arith.muli %block, %c8 : index
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.producer_acquire"(%bars, %slot, %phase) {bytes = 8192 : i64} : (memref<2x2xi64, 3>, index, i32) -> ()
      %next = arith.index_cast %phase : i32 to index
      "tile.leave"(%next, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      %z = arith.constant 0 : index
      "tile.consumer_wait"(%bars, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
      %next = arith.index_cast %phase : i32 to index
      "tile.leave"(%next, %phase) : (index, i32) -> ()
      "tile.store"(%v, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<8x64xf32>, memref<96x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}

// -----

// With a number of tiles for each block: neighbours, of which the last block has two, and tiles three blocks apart.
// NEAR-LABEL: func.func @tiles(
//       NEAR:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       NEAR:     %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c5
//       NEAR:     %[[NEXT:.*]] = arith.addi %[[FIRST]], %c5
//       NEAR:     %[[END:.*]] = arith.minui %[[NEXT]], %c12
//       NEAR:     "tile.warp_specialize"
//       NEAR:       scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1{{.*}} iter_args(
//       NEAR:       scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1{{.*}} iter_args(
// APART-LABEL: func.func @tiles(
//       APART:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       APART:     scf.for %{{.*}} = %[[BLOCK]] to %c12{{.*}} step %c3{{.*}} iter_args(
// As many tiles as are known at run time only: the blocks are as many at most.
// CHECK-LABEL: func.func @dynamic(
//  CHECK-SAME: %[[TILES:.*]]: index
//       CHECK:   %[[BLOCKS:.*]] = arith.minui %[[TILES]], %c3
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (%[[BLOCKS]]) {
//       CHECK:     scf.for %{{.*}} = %[[BLOCK]] to %[[TILES]] step %[[BLOCKS]] iter_args(
//       CHECK:     scf.for %{{.*}} = %[[BLOCK]] to %[[TILES]] step %[[BLOCKS]] iter_args(
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

// -----

// No roles: nothing to walk.
// CHECK-LABEL: func.func @plain(
//       CHECK:   scf.forall (%{{.*}}) in (12) {
//   CHECK-NOT:   scf.for
//       CHECK:   return
func.func @plain() {
  scf.forall (%block) in (12) {
    gpu.barrier
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Two groups of consumers: the second one starts after the steps of the first tile, five in a ring of two stages, which
// is one stage and two rounds on; each goes past as many between two tiles of its own. They see their stages filled one
// after the other. The producer fills the stages of all tiles.
// TURNS-LABEL: func.func @turns(
//       TURNS:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       TURNS:     %[[TURNS:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<1x2xi64, 3>
//  TURNS-NEXT:     "tile.order_barrier"(%[[TURNS]]) {consumers = 1 : i64}
//       TURNS:     scf.for %{{.*}} = %[[BLOCK]] to %c12{{.*}} step %c3{{.*}} iter_args(
//       TURNS:       "tile.producer_acquire"
//       TURNS:   }, {
//       TURNS:     %[[AT:.*]]:2 = "tile.enter"()
//       TURNS:     %[[TURN:.*]] = "tile.consumer_id"()
//       TURNS:     %[[ON:.*]]:2 = "tile.advance"(%[[AT]]#0, %[[AT]]#1, %c5{{.*}}) {stages = 2 : i64}
//       TURNS:     %[[MINE:.*]] = arith.cmpi eq, %[[TURN]], %c0
//       TURNS:     arith.select %[[MINE]], %[[AT]]#0, %[[ON]]#0 : index
//       TURNS:     %[[BEHIND:.*]] = arith.muli %[[TURN]], %c3
//       TURNS:     %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[BEHIND]]
//       TURNS:     %[[STEP:.*]] = arith.muli %c3{{.*}}, %c2
//       TURNS:     scf.for %{{.*}} = %[[FIRST]] to %c12{{.*}} step %[[STEP]] iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[PHASE:.*]] = %c0_i32)
//  TURNS-NEXT:       "tile.order_wait"(%[[TURNS]], %[[TURN]], %[[PHASE]])
//  TURNS-NEXT:       "tile.consumer_wait"
//  TURNS-NEXT:       "tile.order_arrive"(%[[TURNS]], %[[TURN]])
//       TURNS:       %[[NEXT:.*]]:2 = "tile.advance"(%c0{{.*}}, %[[PHASE]], %c1{{.*}}) {stages = 1 : i64}
//  TURNS-NEXT:       "tile.mma_wait"(%{{.*}}) {pending = 0 : i64}
//       TURNS:       scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]#1 :
//       TURNS:   } {mapping = [#gpu.block<x>], tile.ping_pong = 2 : i64}
func.func @turns(%D: memref<96x64xf32>, %v: vector<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%block) in (12) {
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      scf.for %k = %c0 to %c5 step %c1 {
        "tile.producer_acquire"(%bars, %at#0, %at#1) {bytes = 8192 : i64} : (memref<2x2xi64, 3>, index, i32) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%bars, %at#0, %at#1) : (memref<2x2xi64, 3>, index, i32) -> ()
      %done = "tile.mma_wait"(%v) {pending = 0 : i64} : (vector<8x64xf32>) -> vector<8x64xf32>
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
      "tile.store"(%done, %D, %block, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<8x64xf32>, memref<96x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Where the number of steps is known, the turn is passed on in the last one's iteration, and not between the loop and
// the last wait.
//       TURNS: func.func @turns_of_steps(
//       TURNS:       "tile.order_wait"
//       TURNS:       scf.for %[[K:.*]] = %c0 to %c5 step %c1
//       TURNS:         "tile.consumer_wait"
//       TURNS:         "tile.mma_wait"(%{{.*}}) {pending = 1 : i64}
//       TURNS:         %[[LAST:.*]] = arith.cmpi eq, %[[K]], %c4
//  TURNS-NEXT:         scf.if %[[LAST]] {
//  TURNS-NEXT:           "tile.order_arrive"
//       TURNS:         "tile.consumer_release"
//       TURNS:       "tile.mma_wait"(%{{.*}}) {pending = 0 : i64}
func.func @turns_of_steps(%D: memref<96x64xf32>, %v: vector<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%block) in (12) {
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      scf.for %k = %c0 to %c5 step %c1 {
        "tile.producer_acquire"(%bars, %at#0, %at#1) {bytes = 8192 : i64} : (memref<2x2xi64, 3>, index, i32) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%bars, %at#0, %at#1) : (memref<2x2xi64, 3>, index, i32) -> ()
      %sums = scf.for %k = %c0 to %c5 step %c1 iter_args(%sum = %v) -> (vector<8x64xf32>) {
        "tile.consumer_wait"(%bars, %at#0, %at#1) : (memref<2x2xi64, 3>, index, i32) -> ()
        %next = "tile.mma_wait"(%sum) {pending = 1 : i64} : (vector<8x64xf32>) -> vector<8x64xf32>
        "tile.consumer_release"(%bars, %at#0) : (memref<2x2xi64, 3>, index) -> ()
        scf.yield %next : vector<8x64xf32>
      }
      %done = "tile.mma_wait"(%sums) {pending = 0 : i64} : (vector<8x64xf32>) -> vector<8x64xf32>
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
