// warp-specialize: a producer fills a ring of stages, a consumer multiplies; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'multi-buffer{stages=3}' warp-specialize warp-specialize cse --reading | FileCheck %s

// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   affine.for %arg3 = 0 to 1 {  // block
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 3x64x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 3x64x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 2x3xi64 barriers
//  CHECK-NEXT:     tile.ring %[[BUFFER3]] {consumers = 1}
//  CHECK-NEXT:     tile.warp_specialize {
// The producer announces both tiles of a step, 64 x 64 x 2 bytes each, then copies them.
//  CHECK-NEXT:       %[[START:.*]] = tile.enter
//  CHECK-NEXT:       %[[LOOP:.*]]:2 = affine.for %arg4 = 0 to 4 iter_args(%arg5 = %[[START]]#0, %arg6 = %[[START]]#1) -> (index, i32) {  // k
//  CHECK-NEXT:         tile.producer_acquire %[[BUFFER3]][%arg5], phase %arg6 {bytes = 16384}
//  CHECK-NEXT:         %[[VIEW:.*]] = %[[BUFFER]][%arg5] : 64x64xf16
//  CHECK-NEXT:         %[[AT:.*]] = %arg4 * 64
//  CHECK-NEXT:         tile.tma_load %arg0[0, %[[AT]]] -> %[[VIEW]], %[[BUFFER3]][%arg5] : 64x64xf16 {in_bounds}
//  CHECK-NEXT:         %[[VIEW2:.*]] = %[[BUFFER2]][%arg5] : 64x64xf16
//  CHECK-NEXT:         tile.tma_load %arg1[%[[AT]], 0] -> %[[VIEW2]], %[[BUFFER3]][%arg5] : 64x64xf16
//  CHECK-NEXT:         %[[NEXT:.*]] = tile.advance %arg5, %arg6, 1 {stages = 3}
//  CHECK-NEXT:         affine.yield %[[NEXT]]#0, %[[NEXT]]#1 : index, i32
//  CHECK-NEXT:       }
//  CHECK-NEXT:       tile.leave %[[LOOP]]#0, %[[LOOP]]#1
//  CHECK-NEXT:     }, {
// The consumer: the first step is before the loop; each of the others releases the stage of the step before it.
//  CHECK-NEXT:       %[[LOADED:.*]] = tile.load %arg2[0, 0] : 64x64xf32
//  CHECK-NEXT:       %[[START2:.*]] = tile.enter
//  CHECK-NEXT:       tile.consumer_wait %[[BUFFER3]][%[[START2]]#0], phase %[[START2]]#1
//  CHECK-NEXT:       %[[VIEW3:.*]] = %[[BUFFER]][%[[START2]]#0] : 64x64xf16
//  CHECK-NEXT:       %[[VIEW4:.*]] = %[[BUFFER2]][%[[START2]]#0] : 64x64xf16
//  CHECK-NEXT:       %[[SUM:.*]] = tile.mma %[[VIEW3]][mk], %[[VIEW4]][kn], %[[LOADED]] : 64x64xf32 {async}
//  CHECK-NEXT:       %[[NEXT2:.*]] = tile.advance %[[START2]]#0, %[[START2]]#1, 1 {stages = 3}
//  CHECK-NEXT:       %[[LOOP2:.*]]:4 = affine.for %arg4 = 0 to 3 iter_args(%arg5 = %[[SUM]], %arg6 = %[[NEXT2]]#0, %arg7 = %[[NEXT2]]#1, %arg8 = %[[START2]]#0) -> (vector<64x64xf32>, index, i32, index) {  // k
//  CHECK-NEXT:         %[[AT2:.*]] = %arg4 + 1
//  CHECK-NEXT:         tile.consumer_wait %[[BUFFER3]][%arg6], phase %arg7
//  CHECK-NEXT:         %[[VIEW5:.*]] = %[[BUFFER]][%arg6] : 64x64xf16
//  CHECK-NEXT:         %[[VIEW6:.*]] = %[[BUFFER2]][%arg6] : 64x64xf16
//  CHECK-NEXT:         %[[SUM2:.*]] = tile.mma %[[VIEW5]][mk], %[[VIEW6]][kn], %arg5 : 64x64xf32 {async}
//  CHECK-NEXT:         %[[DONE:.*]] = tile.mma_wait %[[SUM2]] {pending = 1}
//  CHECK-NEXT:         tile.consumer_release %[[BUFFER3]][%arg8]
//  CHECK-NEXT:         %[[NEXT3:.*]] = tile.advance %arg6, %arg7, 1 {stages = 3}
//  CHECK-NEXT:         affine.yield %[[DONE]], %[[NEXT3]]#0, %[[NEXT3]]#1, %arg6 : vector<64x64xf32>, index, i32, index
//  CHECK-NEXT:       }
//  CHECK-NEXT:       %[[DONE2:.*]] = tile.mma_wait %[[LOOP2]]#0 {pending = 0}
//  CHECK-NEXT:       tile.consumer_release %[[BUFFER3]][%[[LOOP2]]#3]
//  CHECK-NEXT:       tile.leave %[[LOOP2]]#1, %[[LOOP2]]#2
// Everything after the loop belongs to the consumer.
//  CHECK-NEXT:       %[[V:.*]] = arith.addf %[[DONE2]], %[[DONE2]] : vector<64x64xf32>
//  CHECK-NEXT:       tile.store %[[V]] -> %arg2[0, 0] : 64x64xf32
//  CHECK-NEXT:     })
//  CHECK-NEXT:   }
func.func @product(%X: memref<64x256xf16>, %Y: memref<256x64xf16>, %D: memref<64x64xf32>) {
  affine.for %block = 0 to 1 {
    %z = arith.constant 0 : index
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %v = "tile.load"(%D, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<64x64xf32> {
      %l = affine.apply affine_map<(k) -> (k * 64)>(%k)
      "tile.copy"(%A, %X, %z, %l) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x256xf16>, index, index) -> ()
      "tile.copy"(%B, %Y, %l, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<256x64xf16>, index, index) -> ()
      %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      affine.yield %d : vector<64x64xf32>
    } {tile.loop = "k"}
    %t = arith.addf %s, %s : vector<64x64xf32>
    "tile.store"(%t, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

// -----

// One step only: no loop for the consumer.
// CHECK-LABEL: func.func @one_step(
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 3x64x64xf16
//  CHECK-NEXT:   %[[BUFFER2:.*]] = memref.alloc() : shared 2x3xi64 barriers
//  CHECK-NEXT:   tile.ring %[[BUFFER2]] {consumers = 1}
//  CHECK-NEXT:   tile.warp_specialize {
//  CHECK-NEXT:     %[[START:.*]] = tile.enter
//  CHECK-NEXT:     %[[LOOP:.*]]:2 = affine.for %arg3 = 0 to 1 iter_args(%arg4 = %[[START]]#0, %arg5 = %[[START]]#1) -> (index, i32) {  // k
//  CHECK-NEXT:       tile.producer_acquire %[[BUFFER2]][%arg4], phase %arg5 {bytes = 8192}
//  CHECK-NEXT:       %[[VIEW:.*]] = %[[BUFFER]][%arg4] : 64x64xf16
//  CHECK-NEXT:       tile.tma_load %arg0[0, 0] -> %[[VIEW]], %[[BUFFER2]][%arg4] : 64x64xf16
//  CHECK-NEXT:       %[[NEXT:.*]] = tile.advance %arg4, %arg5, 1 {stages = 3}
//  CHECK-NEXT:       affine.yield %[[NEXT]]#0, %[[NEXT]]#1 : index, i32
//  CHECK-NEXT:     }
//  CHECK-NEXT:     tile.leave %[[LOOP]]#0, %[[LOOP]]#1
//  CHECK-NEXT:   }, {
//  CHECK-NEXT:     %[[START2:.*]] = tile.enter
//  CHECK-NEXT:     tile.consumer_wait %[[BUFFER2]][%[[START2]]#0], phase %[[START2]]#1
//  CHECK-NEXT:     %[[VIEW2:.*]] = %[[BUFFER]][%[[START2]]#0] : 64x64xf16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW2]][mk], %[[VIEW2]][nk], %arg1 : 64x64xf32 {async}
//  CHECK-NEXT:     %[[NEXT2:.*]] = tile.advance %[[START2]]#0, %[[START2]]#1, 1 {stages = 3}
//  CHECK-NEXT:     %[[DONE:.*]] = tile.mma_wait %[[SUM]] {pending = 0}
//  CHECK-NEXT:     tile.consumer_release %[[BUFFER2]][%[[START2]]#0]
//  CHECK-NEXT:     tile.leave %[[NEXT2]]#0, %[[NEXT2]]#1
//  CHECK-NEXT:     tile.store %[[DONE]] -> %arg2[0, 0] : 64x64xf32
//  CHECK-NEXT:   })
func.func @one_step(%X: memref<64x64xf16>, %v: vector<64x64xf32>, %D: memref<64x64xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<64x64xf16, 3>
  %s = affine.for %k = 0 to 1 iter_args(%c = %v) -> vector<64x64xf32> {
    "tile.copy"(%A, %X, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "nk"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    affine.yield %d : vector<64x64xf32>
  } {tile.loop = "k"}
  "tile.store"(%s, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  return
}

// -----

// As many steps as are known at run time only, and one where there are none: the consumer's loop has one less. Two products
// wait for two.
// CHECK-LABEL: func.func @dynamic(
//       CHECK:   %[[STEPS:.*]] = arith.maxui %arg0, 1
//       CHECK:   affine.for %{{.*}} = 0 to %[[STEPS]] iter_args(
//       CHECK:   %[[REST:.*]] = %[[STEPS]] - 1
//       CHECK:   affine.for %{{.*}} = 0 to %[[REST]] iter_args(
//       CHECK:     tile.mma
//       CHECK:     tile.mma
//       CHECK:     tile.mma_wait %{{.*}} {pending = 2}
//  CHECK-NEXT:     tile.mma_wait %{{.*}} {pending = 2}
func.func @dynamic(%steps: index, %X: memref<64x?xf16>, %v: vector<64x64xf32>, %D: memref<2x64x64xf32>) {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %A = memref.alloc() : memref<64x64xf16, 3>
  %s:2 = affine.for %k = 0 to %steps iter_args(%c = %v, %e = %v) -> (vector<64x64xf32>, vector<64x64xf32>) {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x?xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "nk"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    %f = "tile.mma"(%A, %A, %e) {a = "mk", b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    affine.yield %d, %f : vector<64x64xf32>, vector<64x64xf32>
  } {tile.loop = "k"}
  "tile.store"(%s#0, %D, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 3>} : (vector<64x64xf32>, memref<2x64x64xf32>, index, index, index) -> ()
  "tile.store"(%s#1, %D, %one, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 3>} : (vector<64x64xf32>, memref<2x64x64xf32>, index, index, index) -> ()
  return
}

// -----

// Products that are done where they stand: a stage is handed back after them, by lanes that have loaded from it.
// RUN: sed '/^func.func @at_once(/,/^}/!s/.*//' %s | mlir-gemm opt - 'warp-specialize{asynchronous=false}' --reading | FileCheck %s --check-prefix=ONCE
// ONCE-LABEL: func.func @at_once(
//       ONCE:   }, {
//       ONCE:     %[[START:.*]] = tile.enter
//       ONCE:     %[[ALL:.*]]:3 = affine.for %{{.*}} = 0 to 4 iter_args(%[[ACC:.*]] = %{{.*}}, %[[SLOT:.*]] = %[[START]]#0, %[[PHASE:.*]] = %[[START]]#1)
//       ONCE:       tile.consumer_wait %[[BARS:.*]][%[[SLOT]]], phase %[[PHASE]]
//       ONCE:       %[[SUM:.*]] = tile.mma %{{.*}}[mk], %{{.*}}[nk], %[[ACC]] : 64x64xf32
//   ONCE-NOT:       tile.mma_wait
//       ONCE:       tile.consumer_release %[[BARS]][%[[SLOT]]] {loaded}
//       ONCE:       affine.yield %[[SUM]], %{{.*}}, %{{.*}}
//       ONCE:     tile.leave %[[ALL]]#1, %[[ALL]]#2
//       ONCE:     tile.store %[[ALL]]#0 -> %arg2[
func.func @at_once(%X: memref<64x256xf16>, %v: vector<64x64xf32>, %D: memref<64x64xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<2x64x64xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<64x64xf32> {
    %slot = affine.apply affine_map<(d) -> (d mod 2)>(%k)
    %at = affine.apply affine_map<(d) -> (d * 64)>(%k)
    %a = memref.subview %A[%slot, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
    "tile.copy"(%a, %X, %z, %at) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, memref<64x256xf16>, index, index) -> ()
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "nk"} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    affine.yield %d : vector<64x64xf32>
  } {tile.loop = "k"}
  "tile.store"(%s, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  return
}
