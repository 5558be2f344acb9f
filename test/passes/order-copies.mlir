// order-copies: barriers between copying a k tile and computing with it; a second run changes nothing.
// RUN: mlir-gemm opt %s order-copies | FileCheck %s
// RUN: mlir-gemm opt %s order-copies order-copies | FileCheck %s

// One buffer: the next step must not overwrite it while it is read.
// CHECK-LABEL: func.func @one_stage(
//   CHECK-NOT:   gpu.barrier
//       CHECK:   affine.for
//       CHECK:     "tile.copy"
//  CHECK-NEXT:     "tile.copy"
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[D:.*]] = "tile.mma"
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     affine.yield %[[D]]
//   CHECK-NOT:   gpu.barrier
func.func @one_stage(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %B: memref<16x16xf16, 3>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    "tile.copy"(%B, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

// Two stages in turn: one barrier a step is enough.
// CHECK-LABEL: func.func @two_stages(
//       CHECK:   affine.for
//       CHECK:     "tile.copy"
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[D:.*]] = "tile.mma"
//  CHECK-NEXT:     affine.yield %[[D]]
func.func @two_stages(%X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<2x16x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %turn = affine.apply affine_map<(k) -> (k mod 2)>(%k)
    %S = memref.subview %A[%turn, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
    "tile.copy"(%S, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%S, %S, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

// A view of always the same stage is no turn.
// CHECK-LABEL: func.func @same_stage(
//       CHECK:     "tile.copy"
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     "tile.mma"
//  CHECK-NEXT:     gpu.barrier
func.func @same_stage(%X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<2x16x16xf16, 3>
  affine.for %k = 0 to 4 {
    %S = memref.subview %A[1, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: 256>, 3>
    "tile.copy"(%S, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: 256>, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%S, %S, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, strided<[16, 1], offset: 256>, 3>, memref<16x16xf16, strided<[16, 1], offset: 256>, 3>, vector<16x16xf32>) -> vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

// A computed tile fills its buffer as a copy does.
// CHECK-LABEL: func.func @computed(
//       CHECK:     arith.negf
//  CHECK-NEXT:     "tile.store"
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     "tile.mma"
//  CHECK-NEXT:     gpu.barrier
func.func @computed(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    %x = "tile.load"(%X, %z, %k) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x64xf16>, index, index) -> vector<16x16xf16>
    %n = arith.negf %x : vector<16x16xf16>
    "tile.store"(%n, %A, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
  } {tile.loop = "k"}
  return
}
