// parallelize-blocks: block loops that are proved parallel become one affine.parallel; a second run changes nothing.
// RUN: mlir-gemm opt %s parallelize-blocks | FileCheck %s
// RUN: mlir-gemm opt %s parallelize-blocks parallelize-blocks | FileCheck %s

// Staging buffers belong to the block. Reading the same tiles of X in several blocks is no harm.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[X:.*]]: memref<32x64xf16>, %[[C:[^:]*]]: memref<32x48xf32>
//       CHECK:   affine.parallel (%[[I:.*]], %[[J:.*]]) = (0, 0) to (2, 3) {
//   CHECK-NOT:   affine.parallel
//       CHECK:     %[[M:.*]] = affine.apply #{{.*}}(%[[I]])
//  CHECK-NEXT:     %[[N:.*]] = affine.apply #{{.*}}(%[[J]])
//       CHECK:     memref.alloc
//       CHECK:     affine.for
//       CHECK:     } {tile.loop = "k"}
//  CHECK-NEXT:     "tile.store"(%{{.*}}, %[[C]], %[[M]], %[[N]])
//  CHECK-NEXT:   }
//  CHECK-NEXT:   return
func.func @product(%X: memref<32x64xf16>, %C: memref<32x48xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
      %n = affine.apply affine_map<(j) -> (j * 16)>(%j)
      %v = "tile.load"(%C, %m, %n) {operandSegmentSizes = array<i32: 1, 2>} : (memref<32x48xf32>, index, index) -> vector<16x16xf32>
      %A = memref.alloc() : memref<2x16x16xf16, 3>
      %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
        %turn = affine.apply affine_map<(k) -> (k mod 2)>(%k)
        %S = memref.subview %A[%turn, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
        %l = affine.apply affine_map<(k) -> (k * 16)>(%k)
        "tile.copy"(%S, %X, %m, %l) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<32x64xf16>, index, index) -> ()
        gpu.barrier
        %d = "tile.mma"(%S, %S, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, vector<16x16xf32>) -> vector<16x16xf32>
        affine.yield %d : vector<16x16xf32>
      } {tile.loop = "k"}
      "tile.store"(%s, %C, %m, %n) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<32x48xf32>, index, index) -> ()
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// One dimension may hold both loops, when a step of the outer one passes all that the inner one reaches.
// CHECK-LABEL: func.func @one_dimension(
//       CHECK:   affine.parallel (%{{.*}}, %{{.*}}) = (0, 0) to (2, 3) {
func.func @one_dimension(%C: memref<96xf32>, %v: vector<16xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      %n = affine.apply affine_map<(i, j) -> (i * 48 + j * 16)>(%i, %j)
      "tile.store"(%v, %C, %n) {operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16xf32>, memref<96xf32>, index) -> ()
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// A store through a view counts where the view starts.
// CHECK-LABEL: func.func @through_a_view(
//       CHECK:   affine.parallel (%{{.*}}) = (0) to (2) {
func.func @through_a_view(%C: memref<32x16xf32>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
    %T = memref.subview %C[%m, 0] [16, 16] [1, 1] : memref<32x16xf32> to memref<16x16xf32, strided<[16, 1], offset: ?>>
    "tile.store"(%v, %T, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32, strided<[16, 1], offset: ?>>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

// Batches are parallel because each is an index of its own; a row of results that lies transposed is one, too.
// CHECK-LABEL: func.func @batches(
//       CHECK:   affine.parallel (%[[H:.*]], %[[I:.*]]) = (0, 0) to (3, 4) {
//       CHECK:     %[[M:.*]] = affine.apply
//       CHECK:     "tile.store"(%{{.*}}, %{{.*}}, %[[H]], %{{.*}}, %[[M]]) {dims = array<i64: -1, 1, 0>
func.func @batches(%v: vector<16x8xf32>, %d: memref<3x8x64xf32>) {
  affine.for %h = 0 to 3 {
    affine.for %i = 0 to 4 {
      %c0 = arith.constant 0 : index
      %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
      "tile.store"(%v, %d, %h, %c0, %m) {dims = array<i64: -1, 1, 0>, operandSegmentSizes = array<i32: 1, 1, 3>} : (vector<16x8xf32>, memref<3x8x64xf32>, index, index, index) -> ()
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// Roles: a copy by the copy engine reads its source, and waits and releases touch no element.
// CHECK-LABEL: func.func @roles(
//       CHECK:   affine.parallel (%{{.*}}) = (0) to (2) {
//       CHECK:     "tile.warp_specialize"
func.func @roles(%X: memref<32x16xf16>, %C: memref<32x16xf32>, %v: vector<16x16xf32>) {
  affine.for %i = 0 to 2 {
    %z = arith.constant 0 : index
    %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
    %A = memref.alloc() : memref<1x16x16xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.producer_acquire"(%bars, %slot, %phase) {bytes = 512 : i64} : (memref<2x1xi64, 3>, index, i32) -> ()
      %S = memref.subview %A[%slot, 0, 0] [1, 16, 16] [1, 1, 1] : memref<1x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
      "tile.tma_load"(%S, %X, %bars, %slot, %m, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<32x16xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
    }, {
      %slot, %phase = "tile.enter"() : () -> (index, i32)
      "tile.consumer_wait"(%bars, %slot, %phase) : (memref<2x1xi64, 3>, index, i32) -> ()
      "tile.consumer_release"(%bars, %slot) : (memref<2x1xi64, 3>, index) -> ()
      "tile.leave"(%slot, %phase) : (index, i32) -> ()
      "tile.store"(%v, %C, %m, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<32x16xf32>, index, index) -> ()
    }) : () -> ()
  } {tile.loop = "block"}
  return
}
