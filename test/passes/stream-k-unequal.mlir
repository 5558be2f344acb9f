// stream-k: tiles of 8, 7, ... 1 steps for 3 blocks. A table says what each block has; a second run changes nothing.
// RUN: mlir-gemm opt %s 'stream-k{blocks=3 share=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'stream-k{blocks=3 share=2}' 'stream-k{blocks=2 share=1}' 'persistent-tile-scheduler{blocks=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'stream-k{blocks=8 share=1}' cse | FileCheck %s --check-prefix=ALL
// RUN: mlir-gemm opt %s 'stream-k{blocks=4 share=2}' cse | FileCheck %s --check-prefix=WHOLE

// Tiles 0 to 5 are whole, back and forth: 8 + 3, 7 + 4 and 6 + 5 steps. Of tiles 6 and 7, which have 2 and 1, each block
// has a step; the last range is the first block's. A row is the first tile, its first step, the last tile, the step
// after the last one, the blocks that have its rest, and the items of work.
// CHECK: memref.global "private" constant @ranges_of_tiles : memref<18xi32> = dense<[7, 0, 7, 1, 0, 3, 6, 1, 6, 2, 0, 3, 6, 0, 6, 1, 1, 3]>
// CHECK-LABEL: func.func @tiles(
//       CHECK:   memref<3x8x512xf32>
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       CHECK:     "tile.warp_specialize"() ({
//       CHECK:       %[[TABLE:.*]] = memref.get_global @ranges_of_tiles
//       CHECK:       %[[ROW:.*]] = arith.muli %[[BLOCK]], %c6
//       CHECK:       memref.load %[[TABLE]][%[[ROW]]]
//       CHECK:       scf.for %[[ITEM:.*]] = %c0{{.*}} to %{{.*}} step %c1{{.*}} iter_args(
//       CHECK:         %[[SHARES:.*]] = arith.cmpi uge, %[[ITEM]], %c2
// The producer copies the item's steps, of those that the tile walks.
//       CHECK:         %[[LEFT:.*]] = arith.subi %c8{{.*}}, %[[TILE:.*]] : index
//       CHECK:         %[[UNTIL:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LEFT]] : index
//       CHECK:         scf.for %{{.*}} = %{{.*}} to %[[UNTIL]] step %c1
//       CHECK:           "tile.tma_load"
//       CHECK:     }, {
//       CHECK:         "tile.mma"
//       CHECK:         scf.if %{{.*}} {
//  CHECK-NEXT:           "tile.store_partials"
//       CHECK:           "tile.fix_up"

// With one range for each block all 36 steps are shared by eight blocks.
// ALL: memref.global "private" constant @ranges_of_tiles : memref<48xi32>
// ALL:   scf.forall (%{{.*}}) in (8) {

// Two whole waves: nothing is shared.
// WHOLE-NOT: memref.global
//     WHOLE:   scf.forall (%{{.*}}) in (8) {
func.func @tiles(%X: memref<512x512xf16>, %D: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (8) {
    %left = arith.subi %c8, %block : index
    %row = arith.muli %block, %c64 : index
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      scf.for %step = %c0 to %left step %c1 {
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%A, %X, %bars, %at#0, %row, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<512x512xf16>, memref<2x2xi64, 3>, index, index, index) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %rest = arith.subi %left, %c1 : index
      %sum = scf.for %step = %c0 to %rest step %c1 iter_args(%acc = %first) -> (vector<64x64xf32>) {
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
      %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.consumer_release"(%bars, %at#0) : (memref<2x2xi64, 3>, index) -> ()
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
      "tile.store"(%done, %D, %row, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<512x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
