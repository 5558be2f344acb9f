// accumulate: the sum stays in registers across the k loop, temporaries vanish; a second run changes nothing.
// RUN: mlir-gemm opt %s accumulate accumulate --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'accumulate{registers=false}' --reading | FileCheck %s --check-prefix=MEMORY

// CHECK-LABEL: func.func @temporary(
//  CHECK-SAME: %[[A:.*]]: memref<16x16xf16, 3>, %[[B:.*]]: memref<16x16xf16, 3>, %[[C:.*]]: memref<16x16xf16>
//   CHECK-NOT:   memref.alloc
//       CHECK:   %[[HALF:.*]] = tile.load %[[C]][0, 0] : 16x16xf16
//  CHECK-NEXT:   %[[START:.*]] = arith.extf %[[HALF]]
//       CHECK:   %[[SUM:.*]] = affine.for %{{.*}} = 0 to 4 iter_args(%[[ACC:.*]] = %[[START]]) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[NEXT:.*]] = tile.mma %[[A]][mk], %[[B]][kn], %[[ACC]] : 16x16xf32
//  CHECK-NEXT:     affine.yield %[[NEXT]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//   CHECK-NOT:   tile.load
//       CHECK:   %[[ROUNDED:.*]] = arith.truncf %[[SUM]]
//  CHECK-NEXT:   tile.store %[[ROUNDED]] -> %[[C]][0, 0] : 16x16xf16
//  CHECK-NEXT: }

// Without registers the temporary stays, and is read and written in each step.
// MEMORY-LABEL: func.func @temporary(
//       MEMORY:   memref.alloc
//       MEMORY:   affine.for %{{.*}} = 0 to 4 {  // k
//       MEMORY:     tile.load
//       MEMORY:     tile.mma
//       MEMORY:     tile.store
//  MEMORY-NEXT:   }
//       MEMORY:   tile.load
func.func @temporary(%A: memref<16x16xf16, 3>, %B: memref<16x16xf16, 3>, %C: memref<16x16xf16>) {
  %T = memref.alloc() : memref<16x16xf32>
  %z = arith.constant 0 : index
  affine.for %i = 0 to 1 {
    %h = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf16>, index, index) -> vector<16x16xf16>
    %w = arith.extf %h : vector<16x16xf16> to vector<16x16xf32>
    "tile.store"(%w, %T, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    affine.for %k = 0 to 4 {
      %c = "tile.load"(%T, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
      %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      "tile.store"(%d, %T, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    } {tile.loop = "k"}
    %s = "tile.load"(%T, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %r = arith.truncf %s : vector<16x16xf32> to vector<16x16xf16>
    "tile.store"(%r, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

// A tile stored twice, unread between: the first store goes. Another tile of the memref between keeps it.
// CHECK-LABEL: func.func @overwritten(
//       CHECK:   tile.store %arg2 -> %arg0[0, 0] : 16x16xf32
//  CHECK-NEXT:   %[[OTHER:.*]] = tile.load %arg0[0, 16] : 16x16xf32
//  CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[OTHER]], %arg3
//  CHECK-NEXT:   tile.store %[[SUM]] -> %arg0[0, 0] : 16x16xf32
//  CHECK-NEXT: }
func.func @overwritten(%C: memref<16x32xf32>, %D: memref<16x16xf32>, %v: vector<16x16xf32>, %w: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %n = arith.constant 16 : index
  affine.for %i = 0 to 1 {
    "tile.store"(%v, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x32xf32>, index, index) -> ()
    %c = "tile.load"(%C, %z, %n) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x32xf32>, index, index) -> vector<16x16xf32>
    %s = arith.addf %c, %w : vector<16x16xf32>
    "tile.store"(%w, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x32xf32>, index, index) -> ()
    "tile.store"(%s, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x32xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

// One batch of a larger result: the place says which, and the accumulator still goes through the loop.
// CHECK-LABEL: func.func @batch(
//       CHECK:   affine.for %[[H:.*]] = 0 to 3 {  // block
//       CHECK:     %[[INIT:.*]] = tile.load %arg2[%[[H]], 0, 0] : 16x16xf32 {in_bounds = [true, false, true]}
//       CHECK:     %[[SUM:.*]] = affine.for %{{.*}} = 0 to 4 iter_args(%[[C:.*]] = %[[INIT]]) -> (vector<16x16xf32>) {  // k
//       CHECK:       tile.mma %arg0[mk], %arg1[kn], %[[C]]
//       CHECK:     tile.store %[[SUM]] -> %arg2[%[[H]], 0, 0] : 16x16xf32 {in_bounds = [true, false, true]}
func.func @batch(%a: memref<16x16xf16, 3>, %b: memref<16x16xf16, 3>, %c: memref<3x10x16xf32>) {
  affine.for %h = 0 to 3 {
    affine.for %l = 0 to 4 {
      %c0 = arith.constant 0 : index
      %t = "tile.load"(%c, %h, %c0, %c0) {in_bounds = array<i1: true, false, true>, operandSegmentSizes = array<i32: 1, 3>} : (memref<3x10x16xf32>, index, index, index) -> vector<16x16xf32>
      %d = "tile.mma"(%a, %b, %t) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      "tile.store"(%d, %c, %h, %c0, %c0) {in_bounds = array<i1: true, false, true>, operandSegmentSizes = array<i32: 1, 1, 3>} : (vector<16x16xf32>, memref<3x10x16xf32>, index, index, index) -> ()
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}

// Two products of one A: both accumulators go through the loop.
// CHECK-LABEL: func.func @both(
//       CHECK:     %[[SUMS:.*]]:2 = affine.for %{{.*}} = 0 to 4 iter_args(%[[C:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}}) -> (vector<16x16xf32>, vector<16x16xf32>) {  // k
//       CHECK:       tile.mma %arg0[mk], %arg1[kn], %[[C]]
//       CHECK:       tile.mma %arg0[mk], %arg2[kn], %[[D]]
//       CHECK:     tile.store %[[SUMS]]#0 -> %arg3[0, 0] : 16x16xf32
//       CHECK:     tile.store %[[SUMS]]#1 -> %arg4[0, 0] : 16x16xf32
func.func @both(%a: memref<16x16xf16, 3>, %b: memref<16x16xf16, 3>, %e: memref<16x16xf16, 3>, %c: memref<16x16xf32>, %d: memref<16x16xf32>) {
  affine.for %h = 0 to 1 {
    affine.for %l = 0 to 4 {
      %c0 = arith.constant 0 : index
      %t = "tile.load"(%c, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
      %p = "tile.mma"(%a, %b, %t) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      "tile.store"(%p, %c, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
      %u = "tile.load"(%d, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
      %q = "tile.mma"(%a, %e, %u) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      "tile.store"(%q, %d, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}
