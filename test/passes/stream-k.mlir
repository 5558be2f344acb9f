// stream-k: the k steps of tiles that fill no whole wave are shared evenly. A second run changes nothing, nor does
// persistent-tile-scheduler after it.
// RUN: mlir-gemm opt %s 'stream-k{blocks=5 share=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'stream-k{blocks=5 share=2}' 'stream-k{blocks=7 share=3}' 'persistent-tile-scheduler{blocks=5}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'stream-k{blocks=4 share=2}' | FileCheck %s --check-prefix=WHOLE
// RUN: mlir-gemm opt %s 'stream-k{blocks=40 share=3}' cse | FileCheck %s --check-prefix=FEW
// RUN: mlir-gemm opt %s 'stream-k{blocks=40 share=1}' | FileCheck %s --check-prefix=WHOLE
// RUN: mlir-gemm opt %s 'stream-k{blocks=5 share=1}' cse | FileCheck %s --check-prefix=WAVE

// 12 tiles of 8 steps for 5 blocks: 2 tiles each, and 2 left, whose 16 steps are 4 ranges.
// CHECK-LABEL: func.func @tiles(
//  CHECK-SAME: %[[X:.*]]: memref<768x512xf16>, %[[D:.*]]: memref<768x64xf32>
//       CHECK:   %[[PARTS:.*]] = memref.alloc() {tile.scratch = "partials"} : memref<4x8x512xf32>
//       CHECK:   %[[FLAGS:.*]] = memref.alloc() {tile.scratch = "flags"} : memref<4x32xi32>
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (5) {
//       CHECK:     "tile.warp_specialize"() ({
// The last block has no range, the first one the last.
//       CHECK:       %[[HAS:.*]] = arith.cmpi ult, %[[BLOCK]], %c4
//       CHECK:       %[[LAST:.*]] = arith.minui %[[BLOCK]], %c3
//       CHECK:       %[[RANGE:.*]] = arith.subi %c3{{.*}}, %[[LAST]]
//       CHECK:       %[[STEPS:.*]] = arith.muli %[[RANGE]], %c16
//       CHECK:       %[[START:.*]] = arith.divui %[[STEPS]], %c4
//       CHECK:       %[[STOP:.*]] = arith.divui %{{.*}}, %c4
//       CHECK:       %[[END:.*]] = arith.select %[[HAS]], %[[STOP]], %[[START]]
//       CHECK:       %[[ITEMS:.*]] = arith.addi %{{.*}}, %c2
//       CHECK:       scf.for %[[ITEM:.*]] = %c0{{.*}} to %[[ITEMS]] step %c1{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) -> (index, i32) {
//       CHECK:         %[[SHARED:.*]] = arith.cmpi uge, %[[ITEM]], %c2{{.*}}
//       CHECK:         %[[PART:.*]] = arith.andi %[[SHARED]], %
// The producer copies the steps of the item, of its tile.
//       CHECK:         %[[FIRST:.*]] = arith.select %[[PART]], %{{.*}}, %c0
//       CHECK:         %[[ROW:.*]] = arith.muli %{{.*}}, %c64
//       CHECK:         %[[BEHIND:.*]] = arith.addi %[[FIRST]], %{{.*}}
//       CHECK:         scf.for %[[STEP:.*]] = %[[FIRST]] to %[[BEHIND]] step %c1
//       CHECK:           %[[K:.*]] = arith.muli %[[STEP]], %c64
//       CHECK:           "tile.tma_load"(%{{.*}}, %[[X]], %{{.*}}, %{{.*}}, %[[ROW]], %[[K]])
//       CHECK:       } {tile.tiles}
//       CHECK:     }, {
// The consumer's first product stands in front of its loop.
//       CHECK:       scf.for %[[ITEM:.*]] = %c0
//       CHECK:         %[[SHARED:.*]] = arith.cmpi uge, %[[ITEM]], %c2{{.*}}
//       CHECK:         %[[PART:.*]] = arith.andi %[[SHARED]], %
//       CHECK:         %[[FORMER:.*]] = "tile.mma"
//       CHECK:         %[[REST:.*]] = arith.subi %{{.*}}, %c1
//       CHECK:         scf.for %{{.*}} = %c0{{.*}} to %[[REST]] step %c1
//       CHECK:         %[[SUM:.*]] = "tile.mma_wait"(%{{.*}}) {pending = 0 : i64}
//  CHECK-NEXT:         "tile.consumer_release"
//  CHECK-NEXT:         scf.if %[[PART]] {
//  CHECK-NEXT:           "tile.store_partials"(%[[SUM]], %[[PARTS]], %[[FLAGS]], %[[MINE:[^)]*]]) : (vector<64x64xf32>,
//  CHECK-NEXT:         } else {
//       CHECK:           %[[TOTAL:.*]] = "tile.fix_up"(%[[SUM]], %[[PARTS]], %[[FLAGS]], %{{.*}}, %{{.*}}) : (vector<64x64xf32>,
//       CHECK:           "tile.store"(%[[TOTAL]], %[[D]],
//       CHECK:         }
//       CHECK:       } {tile.tiles}

// With one range for each tile those of a whole wave are shared too: 7 tiles of 8 steps, 5 ranges.
// WAVE-LABEL: func.func @tiles(
//       WAVE:   memref<5x8x512xf32>
//       WAVE:   scf.forall (%[[BLOCK:.*]]) in (5) {
//       WAVE:       %[[RANGE:.*]] = arith.subi %c4{{.*}}, %[[BLOCK]]
//       WAVE:       %[[STEPS:.*]] = arith.muli %[[RANGE]], %c56
//       WAVE:       arith.divui %[[STEPS]], %c5

// Three whole waves, or tiles for one range each: nothing is shared.
// WHOLE-LABEL: func.func @tiles(
//   WHOLE-NOT:   tile.scratch
//       WHOLE:   scf.forall (%{{.*}}) in (12) {
//   WHOLE-NOT:   tile.store_partials

// Fewer tiles than blocks: as many blocks as ranges.
// FEW-LABEL: func.func @tiles(
//       FEW:   memref<36x8x512xf32>
//       FEW:   scf.forall (%{{.*}}) in (36) {
func.func @tiles(%X: memref<768x512xf16>, %D: memref<768x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (12) {
    %row = arith.muli %block, %c64 : index
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      scf.for %step = %c0 to %c8 step %c1 {
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%A, %X, %bars, %at#0, %row, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<768x512xf16>, memref<2x2xi64, 3>, index, index, index) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = scf.for %step = %c0 to %c7 step %c1 iter_args(%acc = %first) -> (vector<64x64xf32>) {
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
      %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.consumer_release"(%bars, %at#0) : (memref<2x2xi64, 3>, index) -> ()
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
      "tile.store"(%done, %D, %row, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<768x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
