// warp-specialize: a producer fills a ring of stages, a consumer multiplies; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'multi-buffer{stages=3}' warp-specialize warp-specialize cse | FileCheck %s

// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[X:.*]]: memref<64x256xf16>, %[[Y:.*]]: memref<256x64xf16>, %[[D:.*]]: memref<64x64xf32>
//       CHECK:   %[[A:.*]] = memref.alloc() {tile.layout = "swizzle128"} : memref<3x64x64xf16, 3>
//       CHECK:   %[[B:.*]] = memref.alloc() {tile.layout = "swizzle128"} : memref<3x64x64xf16, 3>
//       CHECK:   %[[BARS:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<2x3xi64, 3>
//  CHECK-NEXT:   "tile.ring"(%[[BARS]]) {consumers = 1 : i64}
//  CHECK-NEXT:   "tile.warp_specialize"() ({
// The producer announces both tiles of a step, 64 x 64 x 2 bytes each, then copies them.
//       CHECK:     %[[AT:.*]]:2 = "tile.enter"()
//  CHECK-NEXT:     %[[LOOP:.*]]:2 = affine.for %[[K:.*]] = 0 to 4 iter_args(%[[SLOT:.*]] = %[[AT]]#0, %[[PHASE:.*]] = %[[AT]]#1) -> (index, i32) {
//  CHECK-NEXT:       "tile.producer_acquire"(%[[BARS]], %[[SLOT]], %[[PHASE]]) {bytes = 16384 : i64}
//  CHECK-NEXT:       %[[SA:.*]] = memref.subview %[[A]][%[[SLOT]], 0, 0]
//  CHECK-NEXT:       %[[L:.*]] = affine.apply #{{.*}}(%[[K]])
//  CHECK-NEXT:       "tile.tma_load"(%[[SA]], %[[X]], %[[BARS]], %[[SLOT]], %{{.*}}, %[[L]]) {in_bounds = array<i1: true, true>,
//  CHECK-NEXT:       %[[SB:.*]] = memref.subview %[[B]][%[[SLOT]], 0, 0]
//  CHECK-NEXT:       "tile.tma_load"(%[[SB]], %[[Y]], %[[BARS]], %[[SLOT]], %[[L]], %{{.*}})
//       CHECK:       %[[NEXT:.*]]:2 = "tile.advance"(%[[SLOT]], %[[PHASE]], %c1{{.*}}) {stages = 3 : i64} : (index, i32, index) -> (index, i32)
//  CHECK-NEXT:       affine.yield %[[NEXT]]#0, %[[NEXT]]#1
//  CHECK-NEXT:     } {tile.loop = "k"}
//  CHECK-NEXT:     "tile.leave"(%[[LOOP]]#0, %[[LOOP]]#1)
//  CHECK-NEXT:   }, {
// The consumer: the first step stands alone; those that follow release the stage in front of them.
//       CHECK:     %[[START:.*]] = "tile.load"(%[[D]],
//       CHECK:     %[[IN:.*]]:2 = "tile.enter"()
//       CHECK:     "tile.consumer_wait"(%[[BARS]], %[[IN]]#0, %[[IN]]#1)
//  CHECK-NEXT:     %[[RA:.*]] = memref.subview %[[A]][%[[IN]]#0, 0, 0]
//  CHECK-NEXT:     %[[RB:.*]] = memref.subview %[[B]][%[[IN]]#0, 0, 0]
//  CHECK-NEXT:     %[[FIRST:.*]] = "tile.mma"(%[[RA]], %[[RB]], %[[START]]) {a = "mk", async, b = "kn"}
//       CHECK:     %[[SUM:.*]]:4 = affine.for %{{.*}} = 0 to 3 iter_args(%[[ACC:.*]] = %[[FIRST]], %[[S:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[IN]]#0)
//       CHECK:       "tile.consumer_wait"(%[[BARS]], %[[S]], %[[P]])
//       CHECK:       %[[MORE:.*]] = "tile.mma"(%{{.*}}, %{{.*}}, %[[ACC]]) {a = "mk", async, b = "kn"}
//  CHECK-NEXT:       %[[WAITED:.*]] = "tile.mma_wait"(%[[MORE]]) {pending = 1 : i64}
//  CHECK-NEXT:       "tile.consumer_release"(%[[BARS]], %[[BEFORE]])
//       CHECK:       affine.yield %[[WAITED]], %{{.*}}, %{{.*}}, %[[S]] :
//  CHECK-NEXT:     } {tile.loop = "k"}
//  CHECK-NEXT:     %[[DONE:.*]] = "tile.mma_wait"(%[[SUM]]#0) {pending = 0 : i64}
//  CHECK-NEXT:     "tile.consumer_release"(%[[BARS]], %[[SUM]]#3)
//  CHECK-NEXT:     "tile.leave"(%[[SUM]]#1, %[[SUM]]#2)
// All that follows is the consumer's.
//  CHECK-NEXT:     %[[TWICE:.*]] = arith.addf %[[DONE]], %[[DONE]]
//  CHECK-NEXT:     "tile.store"(%[[TWICE]], %[[D]],
//  CHECK-NEXT:   }) : () -> ()
//  CHECK-NEXT: } {tile.loop = "block"}
//   CHECK-NOT: tile.
//       CHECK: return
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
//       CHECK:   affine.for %{{.*}} = 0 to 1 iter_args(
//       CHECK:     "tile.producer_acquire"
//       CHECK:   }, {
//   CHECK-NOT:   affine.for
//       CHECK:     %[[ONLY:.*]] = "tile.mma"(%{{.*}}) {a = "mk", async, b = "nk"}
//       CHECK:     %[[DONE:.*]] = "tile.mma_wait"(%[[ONLY]]) {pending = 0 : i64}
//  CHECK-NEXT:     "tile.consumer_release"
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
//  CHECK-SAME: %[[GIVEN:.*]]: index
//       CHECK:   %[[STEPS:.*]] = arith.maxui %[[GIVEN]], %c1
//       CHECK:   affine.for %{{.*}} = 0 to %[[STEPS]] iter_args(
//       CHECK:   %[[REST:.*]] = affine.apply #{{.*}}()[%[[STEPS]]]
//       CHECK:   affine.for %{{.*}} = 0 to %[[REST]] iter_args(
//       CHECK:     "tile.mma"
//       CHECK:     "tile.mma"
//       CHECK:     "tile.mma_wait"(%{{.*}}) {pending = 2 : i64}
//  CHECK-NEXT:     "tile.mma_wait"(%{{.*}}) {pending = 2 : i64}
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
// RUN: sed '/^func.func @at_once(/,/^}/!s/.*//' %s | mlir-gemm opt - 'warp-specialize{asynchronous=false}' | FileCheck %s --check-prefix=ONCE
// ONCE-LABEL: func.func @at_once(
//       ONCE:   }, {
//       ONCE:     %[[START:.*]]:2 = "tile.enter"()
//       ONCE:     %[[ALL:.*]]:3 = affine.for %{{.*}} = 0 to 4 iter_args(%[[ACC:.*]] = %{{.*}}, %[[SLOT:.*]] = %[[START]]#0, %[[PHASE:.*]] = %[[START]]#1)
//       ONCE:       "tile.consumer_wait"(%[[BARS:.*]], %[[SLOT]], %[[PHASE]])
//       ONCE:       %[[SUM:.*]] = "tile.mma"(%{{.*}}, %{{.*}}, %[[ACC]]) {a = "mk", b = "nk"}
//   ONCE-NOT:       tile.mma_wait
//       ONCE:       "tile.consumer_release"(%[[BARS]], %[[SLOT]]) {loaded}
//       ONCE:       affine.yield %[[SUM]], %{{.*}}, %{{.*}}
//       ONCE:     "tile.leave"(%[[ALL]]#1, %[[ALL]]#2)
//       ONCE:     "tile.store"(%[[ALL]]#0,
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
