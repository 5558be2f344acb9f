// prefetch-c: what promote-c copies behind the products is copied asynchronously in front of them, and waited for where
// the copy stood; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s prefetch-c --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s prefetch-c prefetch-c --reading | FileCheck %s

// The buffer comes first. Index arithmetic moves with the copy; the barrier that ended the products is that after it.
// CHECK-LABEL: func.func @sum(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf32 pad8
//       CHECK:   memref.alloc() : shared 64x16xf16
//       CHECK:   tile.commit
//       CHECK:   %[[ROW:.*]] = arith.muli
//  CHECK-NEXT:   tile.copy_async %arg0[%[[ROW]], 0] -> %[[BUFFER]] : 64x32xf32
//  CHECK-NEXT:   scf.for
//       CHECK:     scf.yield
//  CHECK-NEXT:   }
//  CHECK-NEXT:   tile.await {pending = 0}
//  CHECK-NEXT:   tile.commit
//  CHECK-NEXT:   tile.await {pending = 0}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.load %[[BUFFER]][0, 0]
//   CHECK-NOT:   gpu.barrier
func.func @sum(%R: memref<128x32xf32>, %D: memref<128x32xf32>) {
  scf.forall (%block) in (2) {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %A = memref.alloc() : memref<64x16xf16, 3>
    %B = memref.alloc() : memref<16x32xf16, 3>
    %C = memref.alloc() {tile.layout = "pad8"} : memref<64x32xf32, 3>
    "tile.commit"() : () -> ()
    %end = scf.for %k = %z to %one step %one iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %sum = "tile.mma"(%A, %B, %acc) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
      scf.yield %sum : vector<64x32xf32>
    }
    "tile.await"() {pending = 0 : i64} : () -> ()
    gpu.barrier
    %row = arith.muli %block, %c64 : index
    "tile.copy"(%C, %R, %row, %z) : (memref<64x32xf32, 3>, memref<128x32xf32>, index, index) -> ()
    gpu.barrier
    %r = "tile.load"(%C, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
    %out = arith.addf %end, %r : vector<64x32xf32>
    "tile.store"(%out, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<128x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Consumers of a ring issue it before they wait for their first stage. Of two copies to one buffer the first goes ahead.
// CHECK-LABEL: func.func @role(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf32 pad8
//       CHECK:   scf.for
//       CHECK:     tile.copy_async %arg0[%{{.*}}, 0] -> %[[BUFFER]]
//  CHECK-NEXT:     tile.consumer_wait
//       CHECK:     tile.mma
//       CHECK:     tile.await {pending = 0}
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     gpu.barrier
//  CHECK-NEXT:     tile.copy %arg0[%{{.*}}, 0] -> %[[BUFFER]]
//  CHECK-NEXT:     gpu.barrier
func.func @role(%R: memref<128x32xf32>, %D: memref<128x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %A = memref.alloc() : memref<64x16xf16, 3>
    %B = memref.alloc() : memref<16x32xf16, 3>
    %C = memref.alloc() {tile.layout = "pad8"} : memref<64x32xf32, 3>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      scf.for %row = %z to %c128 step %c64 {
        "tile.consumer_wait"(%ring, %slot, %phase) : (memref<2x2xi64, 3>, index, i32) -> ()
        %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
        "tile.copy"(%C, %R, %row, %z) : (memref<64x32xf32, 3>, memref<128x32xf32>, index, index) -> ()
        gpu.barrier
        %r = "tile.load"(%C, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
        %1 = arith.addf %sum, %r : vector<64x32xf32>
        gpu.barrier
        "tile.copy"(%C, %R, %row, %z) : (memref<64x32xf32, 3>, memref<128x32xf32>, index, index) -> ()
        gpu.barrier
        %s = "tile.load"(%C, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
        %2 = arith.addf %1, %s : vector<64x32xf32>
        "tile.store"(%2, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<128x32xf32>, index, index) -> ()
        gpu.barrier
      } {tile.tiles}
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
