// tma-load-c: what the epilogue adds comes to buffers of the warpgroups by the copy engine, started before the products; a
// second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s tma-load-c --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s tma-load-c tma-load-c --reading | FileCheck %s

// Two consumers, a tile of 64 x 64 f16 each: panels of 128 bytes. Without a loop over tiles nothing is handed back.
// CHECK-LABEL: func.func @once(
//       CHECK:   %[[UNIT:.*]] = tile.unit_id {unit = warpgroup}
//       CHECK:   %[[C:.*]] = memref.alloc() : shared 2x64x64xf16 swizzle128
//       CHECK:   %[[RING:.*]] = memref.alloc() : shared 2x2xi64 barriers
//  CHECK-NEXT:   %[[OWN:.*]] = memref.alloc() : shared 2x2xi64 barriers
//  CHECK-NEXT:   tile.ring %[[OWN]] {consumers = 4}
//  CHECK-NEXT:   tile.ring %[[RING]] {consumers = 8}
//       CHECK:   tile.enter
//  CHECK-NEXT:   %[[ROW:.*]] = arith.muli
//  CHECK-NEXT:   %[[MINE:.*]] = %[[C]][%[[UNIT]]] : 64x64xf16
//       CHECK:   %[[NUMBER:.*]] = arith.remui %{{.*}}, 128 : index
//  CHECK-NEXT:   %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]], 0 : index
//  CHECK-NEXT:   scf.if %[[FIRST]] {
//  CHECK-NEXT:     tile.producer_acquire %[[OWN]][%[[UNIT]]], phase 0 {bytes = 8192}
//  CHECK-NEXT:     tile.tma_load %arg2[%[[ROW]], 0] -> %[[MINE]], %[[OWN]][%[[UNIT]]] : 64x64xf16
//  CHECK-NEXT:   }
//  CHECK-NEXT:   tile.consumer_wait %[[RING]]
//       CHECK:   tile.mma_wait
//  CHECK-NEXT:   tile.consumer_wait %[[OWN]][%[[UNIT]]], phase 0
//  CHECK-NEXT:   tile.load %[[MINE]][0, 0] : 64x64xf16 {in_bounds, scope = warpgroup}
//   CHECK-NOT:   tile.consumer_release
//       CHECK:   tile.leave
func.func @once(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %R: memref<128x64xf16>, %D: memref<128x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %unit = "tile.unit_id"() {unit = "warpgroup"} : () -> index
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 8 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%ring, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %row = arith.muli %unit, %c64 : index
      %r = "tile.load"(%R, %row, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<128x64xf16>, index, index) -> vector<64x64xf16>
      %w = arith.extf %r : vector<64x64xf16> to vector<64x64xf32>
      %out = arith.addf %sum, %w : vector<64x64xf32>
      "tile.store"(%out, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<128x64xf32>, index, index) -> ()
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}

// -----

// A loop over tiles carries the phase, and hands the buffers back at its end. Two matrices of 32 columns, in panels of
// 64 and 128 bytes, are announced together.
// CHECK-LABEL: func.func @walked(
//       CHECK:   %[[UNIT:.*]] = tile.unit_id {unit = warpgroup}
//       CHECK:   memref.alloc() : shared 1x64x32xf16 swizzle64
//  CHECK-NEXT:   memref.alloc() : shared 1x64x32xf32 swizzle128
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[PHASE:.*]] = 0) -> (index, i32, i32) {
//       CHECK:     scf.if
//  CHECK-NEXT:       tile.producer_acquire %[[OWN:.*]][%[[UNIT]]], phase %[[PHASE]] {bytes = 12288}
//  CHECK-NEXT:       tile.tma_load %arg2[
//  CHECK-NEXT:       tile.tma_load %arg3[
//  CHECK-NEXT:     }
//  CHECK-NEXT:     tile.consumer_wait
//       CHECK:     tile.mma_wait
//  CHECK-NEXT:     tile.consumer_wait %[[OWN]][%[[UNIT]]], phase %[[PHASE]]
//  CHECK-NEXT:     tile.load
//  CHECK-NEXT:     tile.load
//       CHECK:     tile.store
//  CHECK-NEXT:     tile.consumer_release %[[OWN]][%[[UNIT]]] {loaded}
//  CHECK-NEXT:     %[[NEXT:.*]] = tile.advance 0, %[[PHASE]], 1 {stages = 1}
//  CHECK-NEXT:     scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]#1 : index, i32, i32
func.func @walked(%A: memref<64x64xf16, 3>, %B: memref<64x32xf16, 3>, %R: memref<256x32xf16>, %S: memref<256x32xf32>, %D: memref<256x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %first:2 = "tile.enter"() : () -> (index, i32)
      %last:2 = scf.for %row = %z to %c256 step %c64 iter_args(%slot = %first#0, %phase = %first#1) -> (index, i32) {
        "tile.consumer_wait"(%ring, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
        %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
        %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x32xf32>) -> vector<64x32xf32>
        %r = "tile.load"(%R, %row, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<256x32xf16>, index, index) -> vector<64x32xf16>
        %s = "tile.load"(%S, %row, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<256x32xf32>, index, index) -> vector<64x32xf32>
        %w = arith.extf %r : vector<64x32xf16> to vector<64x32xf32>
        %half = arith.addf %sum, %w : vector<64x32xf32>
        %out = arith.addf %half, %s : vector<64x32xf32>
        "tile.store"(%out, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x32xf32>, memref<256x32xf32>, index, index) -> ()
        scf.yield %slot, %phase : index, i32
      } {tile.tiles}
      "tile.leave"(%last#0, %last#1) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// What stands before the products, and is added after them, comes the same way.
// CHECK-LABEL: func.func @before(
//       CHECK:   tile.tma_load %arg2[0, 0]
//       CHECK:   tile.mma_wait
//  CHECK-NEXT:   tile.consumer_wait
//  CHECK-NEXT:   %[[C:.*]] = tile.load
//  CHECK-NEXT:   arith.addf %{{.*}}, %[[C]]
func.func @before(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %C: memref<64x64xf32>, %D: memref<64x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %c = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%ring, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %out = arith.addf %sum, %c : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}
