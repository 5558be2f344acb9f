// tma-multicast: what does not depend on the block's rank is copied in parts, each for the whole cluster; a second run
// changes nothing.
// RUN: mlir-gemm opt --split-input-file %s tma-multicast cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s tma-multicast tma-multicast cse | FileCheck %s

// Two blocks below each other have rows of A of their own, and the same columns of B: 64 rows of k, 32 from each.
// CHECK-LABEL: func.func @pair(
//  CHECK-SAME: %[[X:.*]]: memref<512x512xf16>, %[[Y:.*]]: memref<512x512xf16>)
//       CHECK:   %[[RANK:.*]] = "tile.rank"()
//       CHECK:   "tile.ring"(%{{.*}}) {blocks = 2 : i64, consumers = 1 : i64}
//       CHECK:   %[[K:.*]] = arith.muli %{{.*}}, %c64
//       CHECK:   "tile.tma_load"(%[[A:.*]], %[[X]], {{.*}} {in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>,
//       CHECK:   %[[FIRST:.*]] = arith.muli %{{.*}}, %c32
//       CHECK:   %[[PART:.*]] = memref.subview %[[B:.*]][%[[FIRST]], {{.*}}] [32, 128] [1, 1]
//       CHECK:   %[[DOWN:.*]] = arith.addi %[[K]], %[[FIRST]]
//       CHECK:   "tile.tma_load"(%[[PART]], %[[Y]], %{{.*}}, %{{.*}}, %[[DOWN]], %{{.*}}) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>}
//   CHECK-NOT:   "tile.tma_load"
//       CHECK:   "tile.consumer_release"(%{{.*}}) {blocks = 2 : i64}
func.func @pair(%X: memref<512x512xf16>, %Y: memref<512x512xf16>) {
  scf.forall (%block) in (16) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %rank = "tile.rank"() : () -> index
    %row = arith.muli %rank, %c128 : index
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
    %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %k = arith.muli %block, %c64 : index
      "tile.tma_load"(%A, %X, %bars, %z, %row, %k) {in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      "tile.tma_load"(%B, %Y, %bars, %z, %k, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x128xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    }, {
      "tile.consumer_release"(%bars, %z) : (memref<2x1xi64, 3>, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}

// -----

// No clusters, and nothing in common: nothing changes.
// CHECK-LABEL: func.func @alone(
//   CHECK-NOT:   multicast
//   CHECK-NOT:   blocks =
//       CHECK:   return
func.func @alone(%X: memref<512x512xf16>) {
  %z = arith.constant 0 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<128x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.tma_load"(%A, %X, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<128x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    %rank = "tile.rank"() : () -> index
    %row = arith.addi %rank, %block : index
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.tma_load"(%A, %X, %bars, %z, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}

// -----

// Narrow panels: half of the rows of each, whole 8 rows.
// CHECK-LABEL: func.func @narrow(
//       CHECK:   %[[FIRST:.*]] = arith.muli %{{.*}}, %c32
//       CHECK:   memref.subview %{{.*}}[%[[FIRST]], {{.*}}] [32, 16] [1, 1]
//       CHECK:   "tile.tma_load"({{.*}}multicast = 2
func.func @narrow(%Y: memref<512x16xf16>) {
  scf.forall (%block) in (16) {
    %z = arith.constant 0 : index
    %B = memref.alloc() {tile.layout = "swizzle32"} : memref<64x16xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.tma_load"(%B, %Y, %bars, %z, %block, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x16xf16, 3>, memref<512x16xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}
