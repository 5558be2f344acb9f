// order-copies: barriers between copying a k tile and computing with it; a second run changes nothing.
// RUN: mlir-gemm opt %s order-copies --reading | FileCheck %s
// RUN: mlir-gemm opt %s order-copies order-copies --reading | FileCheck %s

// One buffer: the next step must not overwrite it while it is read.
// CHECK-LABEL: func.func @one_stage(
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg4 = 0 to 4 iter_args(%arg5 = %arg3) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     tile.copy %arg0[0, %arg4] -> %arg1 : 16x16xf16
//  CHECK-NEXT:     tile.copy %arg0[0, %arg4] -> %arg2 : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg1[mk], %arg2[kn], %arg5 : 16x16xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
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
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 2x16x16xf16
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg2 = 0 to 4 iter_args(%arg3 = %arg1) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[AT:.*]] = %arg2 mod 2
//  CHECK-NEXT:     %[[VIEW:.*]] = %[[BUFFER]][%[[AT]]] : 16x16xf16
//  CHECK-NEXT:     tile.copy %arg0[0, %arg2] -> %[[VIEW]] : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW]][mk], %[[VIEW]][kn], %arg3 : 16x16xf32
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
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
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 2x16x16xf16
//  CHECK-NEXT:   affine.for %arg2 = 0 to 4 {  // k
//  CHECK-NEXT:     %[[VIEW:.*]] = %[[BUFFER]][1] : 16x16xf16
//  CHECK-NEXT:     tile.copy %arg0[0, %arg2] -> %[[VIEW]] : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW]][mk], %[[VIEW]][kn], %arg1 : 16x16xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:   }
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
//  CHECK-NEXT:   affine.for %arg3 = 0 to 4 {  // k
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg0[0, %arg3] : 16x16xf16
//  CHECK-NEXT:     %[[V:.*]] = arith.negf %[[LOADED]] : vector<16x16xf16>
//  CHECK-NEXT:     tile.store %[[V]] -> %arg1[0, 0] : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg1[mk], %arg1[kn], %arg2 : 16x16xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:   }
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
