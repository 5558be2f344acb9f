// register-prefetch: the next tile is loaded before the compute and stored after it; a second run changes nothing.
// RUN: mlir-gemm opt %s register-prefetch register-prefetch | FileCheck %s
// RUN: mlir-gemm opt %s 'register-prefetch{early=false}' | FileCheck %s --check-prefix=LATE

// CHECK-LABEL: func.func @one_stage(
//  CHECK-SAME: %[[X:.*]]: memref<16x64xf16>, %[[A:.*]]: memref<16x16xf16, 3>, %[[V:.*]]: vector<16x16xf32>
//       CHECK:   %[[FIRST:.*]] = affine.apply #[[BY16:.*]](%{{.*}})
//  CHECK-NEXT:   "tile.copy"(%[[A]], %[[X]], %{{.*}}, %[[FIRST]])
//  CHECK-NEXT:   %[[SUM:.*]] = affine.for %[[K:.*]] = 0 to 3 iter_args(%[[C:.*]] = %[[V]]) -> (vector<16x16xf32>) {
//  CHECK-NEXT:     %[[NEXT:.*]] = affine.apply #{{.*}}(%[[K]])
//  CHECK-NEXT:     %[[L:.*]] = affine.apply #[[BY16]](%[[NEXT]])
//  CHECK-NEXT:     %[[LOADED:.*]] = "tile.load"(%[[X]], %{{.*}}, %[[L]]) {{.*}} -> vector<16x16xf16>
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     %[[D:.*]] = "tile.mma"(%[[A]], %[[A]], %[[C]])
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     "tile.store"(%[[LOADED]], %[[A]], %[[O:.*]], %[[O]])
//  CHECK-NEXT:     affine.yield %[[D]] : vector<16x16xf32>
//  CHECK-NEXT:   } {tile.loop = "k"}
//  CHECK-NEXT:   gpu.barrier
//       CHECK:   %[[LAST:.*]] = "tile.mma"(%[[A]], %[[A]], %[[SUM]])
//  CHECK-NEXT:   return %[[LAST]]

// LATE-LABEL: func.func @one_stage(
//       LATE:   affine.for {{.*}} = 0 to 3
//  LATE-NEXT:     gpu.barrier
//       LATE:     "tile.load"
//   LATE-NOT:     gpu.barrier
//       LATE:     "tile.mma"
//  LATE-NEXT:     gpu.barrier
func.func @one_stage(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %l = affine.apply affine_map<(k) -> (k * 16)>(%k)
    "tile.copy"(%A, %X, %z, %l) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// With two stages the next tile goes where nobody reads: one barrier a step.
// CHECK-LABEL: func.func @two_stages(
//       CHECK:   "tile.copy"
//       CHECK:   affine.for %{{.*}} = 0 to 3
//       CHECK:     %[[THERE:.*]] = memref.subview
//       CHECK:     %[[LOADED:.*]] = "tile.load"
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     %[[HERE:.*]] = memref.subview
//       CHECK:     "tile.mma"(%[[HERE]], %[[HERE]], %{{.*}})
//   CHECK-NOT:     gpu.barrier
//       CHECK:     "tile.store"(%[[LOADED]], %[[THERE]], %{{.*}})
//       CHECK:   } {tile.loop = "k"}
//  CHECK-NEXT:   gpu.barrier
func.func @two_stages(%X: memref<16x64xf16>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<2x16x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %turn = affine.apply affine_map<(k) -> (k mod 2)>(%k)
    %S = memref.subview %A[%turn, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
    "tile.copy"(%S, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%S, %S, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// A single step needs no loop.
// CHECK-LABEL: func.func @one_step(
//   CHECK-NOT:   affine.for
//       CHECK:   "tile.copy"
//  CHECK-NEXT:   gpu.barrier
//       CHECK:   %[[D:.*]] = "tile.mma"(%{{.*}}, %{{.*}}, %arg2)
//  CHECK-NEXT:   return %[[D]]
func.func @one_step(%X: memref<16x16xf16>, %A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %s = affine.for %k = 0 to 1 iter_args(%c = %v) -> vector<16x16xf32> {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x16xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// A computed tile, and a copy with its place: loads early, arithmetic and stores late.
// CHECK-LABEL: func.func @computed(
//  CHECK-SAME: %[[X:.*]]: memref<64x16xi8>, %[[S:.*]]: memref<16xf16>, %[[A:.*]]: memref<16x16xf16, 3>, %[[B:.*]]: memref<16x16xf16, 3>,
//       CHECK:   "tile.load"(%[[X]],
//       CHECK:   arith.sitofp
//       CHECK:   "tile.store"(%{{.*}}, %[[A]],
//       CHECK:   affine.for
//       CHECK:     %[[L:.*]] = "tile.load"(%[[X]], {{.*}}dims = array<i64: 1, 0>, in_bounds = array<i1: false, true>
//  CHECK-NEXT:     %[[SCALE:.*]] = "tile.load"(%[[S]]
//       CHECK:     %[[C:.*]] = "tile.load"({{.*}}in_bounds = array<i1: true, false>
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     "tile.mma"
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     %[[F:.*]] = arith.sitofp %[[L]]
//  CHECK-NEXT:     %[[P:.*]] = arith.mulf %[[F]], %[[SCALE]]
//  CHECK-NEXT:     %[[Q:.*]] = "tile.clip"(%[[P]]
//  CHECK-NEXT:     "tile.store"(%[[Q]], %[[A]],
//       CHECK:     "tile.store"(%[[C]], %[[B]], {{.*}}in_bounds = array<i1: true, true>
//  CHECK-NEXT:     affine.yield
func.func @computed(%X: memref<64x16xi8>, %S: memref<16xf16>, %A: memref<16x16xf16, 3>, %B: memref<16x16xf16, 3>, %Y: memref<16x64xf16>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %size = arith.constant 64 : index
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %x = "tile.load"(%X, %k, %z) {operandSegmentSizes = array<i32: 1, 2>, dims = array<i64: 1, 0>, in_bounds = array<i1: false, true>} : (memref<64x16xi8>, index, index) -> vector<16x16xi8>
    %scale = "tile.load"(%S, %z) {operandSegmentSizes = array<i32: 1, 1>, dims = array<i64: 0>} : (memref<16xf16>, index) -> vector<16x16xf16>
    %f = arith.sitofp %x : vector<16x16xi8> to vector<16x16xf16>
    %p = arith.mulf %f, %scale : vector<16x16xf16>
    %q = "tile.clip"(%p, %k, %size) {dim = 1 : i64} : (vector<16x16xf16>, index, index) -> vector<16x16xf16>
    "tile.store"(%q, %A, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
    "tile.copy"(%B, %Y, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, false>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}
