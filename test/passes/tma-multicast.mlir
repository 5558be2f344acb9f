// tma-multicast: what does not depend on the block's rank is copied in parts, each for the whole cluster; a second run
// changes nothing.
// RUN: mlir-gemm opt --split-input-file %s tma-multicast cse --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s tma-multicast tma-multicast cse --reading | FileCheck %s

// Two blocks below each other have rows of A of their own, and the same columns of B: 64 rows of k, 32 from each.
// CHECK-LABEL: func.func @pair(
//  CHECK-NEXT:   scf.forall (%arg2) in (16) {
//  CHECK-NEXT:     %[[V:.*]] = tile.rank
//  CHECK-NEXT:     %[[V2:.*]] = arith.muli %[[V]], 128 : index
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 128x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 64x128xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 2x1xi64 barriers
//  CHECK-NEXT:     tile.ring %[[BUFFER3]] {blocks = 2, consumers = 1}
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:       %[[V3:.*]] = arith.muli %arg2, 64 : index
//  CHECK-NEXT:       tile.tma_load %arg0[%[[V2]], %[[V3]]] -> %[[BUFFER]], %[[BUFFER3]][0] : 128x64xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:       %[[V4:.*]] = arith.muli %[[V]], 32 overflow<nsw, nuw> : index
//  CHECK-NEXT:       %[[VIEW:.*]] = %[[BUFFER2]][%[[V4]]] : 32x128xf16
//  CHECK-NEXT:       %[[V5:.*]] = arith.addi %[[V3]], %[[V4]] overflow<nsw, nuw> : index
//  CHECK-NEXT:       tile.tma_load %arg1[%[[V5]], 0] -> %[[VIEW]], %[[BUFFER3]][0] : 32x128xf16 {multicast = 2}
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.consumer_release %[[BUFFER3]][0] {blocks = 2}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
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
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 128x64xf16
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.tma_load %arg0[0, 0] -> %[[BUFFER]], %[[BUFFER2]][0] : 128x64xf16
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>]}
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 128x64xf16
//  CHECK-NEXT:     %[[BUFFER4:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     %[[V:.*]] = tile.rank
//  CHECK-NEXT:     %[[V2:.*]] = arith.addi %[[V]], %arg1 : index
//  CHECK-NEXT:     tile.ring %[[BUFFER4]] {consumers = 1}
//  CHECK-NEXT:     tile.tma_load %arg0[%[[V2]], 0] -> %[[BUFFER3]], %[[BUFFER4]][0] : 128x64xf16
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
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
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 64x16xf16 swizzle32
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64 barriers
//  CHECK-NEXT:     tile.ring %[[BUFFER2]] {blocks = 2, consumers = 1}
//  CHECK-NEXT:     %[[V:.*]] = tile.rank
//  CHECK-NEXT:     %[[V2:.*]] = arith.muli %[[V]], 32 overflow<nsw, nuw> : index
//  CHECK-NEXT:     %[[VIEW:.*]] = %[[BUFFER]][%[[V2]]] : 32x16xf16
//  CHECK-NEXT:     %[[V3:.*]] = arith.addi %arg1, %[[V2]] overflow<nsw, nuw> : index
//  CHECK-NEXT:     tile.tma_load %arg0[%[[V3]], 0] -> %[[VIEW]], %[[BUFFER2]][0] : 32x16xf16 {multicast = 2}
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
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
