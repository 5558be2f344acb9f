// register-prefetch: the next tile is loaded before the compute and stored after it; a second run changes nothing.
// RUN: mlir-gemm opt %s register-prefetch register-prefetch --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'register-prefetch{early=false}' --reading | FileCheck %s --check-prefix=LATE

// CHECK-LABEL: func.func @one_stage(
//  CHECK-NEXT:   %[[AT:.*]] = 0 * 16
//  CHECK-NEXT:   tile.copy %arg0[0, %[[AT]]] -> %arg1 : 16x16xf16
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg3 = 0 to 3 iter_args(%arg4 = %arg2) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[AT2:.*]] = %arg3 + 1
//  CHECK-NEXT:     %[[AT3:.*]] = %[[AT2]] * 16
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg0[0, %[[AT3]]] : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[AT4:.*]] = %arg3 * 16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg1[mk], %arg1[kn], %arg4 : 16x16xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     tile.store %[[LOADED]] -> %arg1[0, 0] : 16x16xf16 {in_bounds}
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[AT5:.*]] = 3 * 16
//  CHECK-NEXT:   %[[SUM2:.*]] = tile.mma %arg1[mk], %arg1[kn], %[[LOOP]] : 16x16xf32
//  CHECK-NEXT:   return %[[SUM2]] : vector<16x16xf32>

// LATE-LABEL: func.func @one_stage(
//       LATE:   affine.for {{.*}} = 0 to 3
//  LATE-NEXT:     gpu.barrier
//       LATE:     tile.load
//   LATE-NOT:     gpu.barrier
//       LATE:     tile.mma
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
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 2x16x16xf16
//  CHECK-NEXT:   %[[AT:.*]] = 0 mod 2
//  CHECK-NEXT:   %[[VIEW:.*]] = %[[BUFFER]][%[[AT]]] : 16x16xf16
//  CHECK-NEXT:   tile.copy %arg0[0, 0] -> %[[VIEW]] : 16x16xf16
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg2 = 0 to 3 iter_args(%arg3 = %arg1) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[AT2:.*]] = %arg2 + 1
//  CHECK-NEXT:     %[[AT3:.*]] = %[[AT2]] mod 2
//  CHECK-NEXT:     %[[VIEW2:.*]] = %[[BUFFER]][%[[AT3]]] : 16x16xf16
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg0[0, %[[AT2]]] : 16x16xf16
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[AT4:.*]] = %arg2 mod 2
//  CHECK-NEXT:     %[[VIEW3:.*]] = %[[BUFFER]][%[[AT4]]] : 16x16xf16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW3]][mk], %[[VIEW3]][kn], %arg3 : 16x16xf32
//  CHECK-NEXT:     tile.store %[[LOADED]] -> %[[VIEW2]][0, 0] : 16x16xf16 {in_bounds}
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[AT5:.*]] = 3 mod 2
//  CHECK-NEXT:   %[[VIEW4:.*]] = %[[BUFFER]][%[[AT5]]] : 16x16xf16
//  CHECK-NEXT:   %[[SUM2:.*]] = tile.mma %[[VIEW4]][mk], %[[VIEW4]][kn], %[[LOOP]] : 16x16xf32
//  CHECK-NEXT:   return %[[SUM2]] : vector<16x16xf32>
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
//  CHECK-NEXT:   tile.copy %arg0[0, 0] -> %arg1 : 16x16xf16
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[SUM:.*]] = tile.mma %arg1[mk], %arg1[kn], %arg2 : 16x16xf32
//  CHECK-NEXT:   return %[[SUM]] : vector<16x16xf32>
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
//  CHECK-NEXT:   %[[LOADED:.*]] = tile.load %arg0[0, 0] : 16x16xi8 {dims = [1, 0], in_bounds = [false, true]}
//  CHECK-NEXT:   %[[LOADED2:.*]] = tile.load %arg1[0] : 16x16xf16 {dims = [0]}
//  CHECK-NEXT:   %[[V:.*]] = arith.sitofp %[[LOADED]] : vector<16x16xi8> to vector<16x16xf16>
//  CHECK-NEXT:   %[[V2:.*]] = arith.mulf %[[V]], %[[LOADED2]] : vector<16x16xf16>
//  CHECK-NEXT:   %[[CLIPPED:.*]] = tile.clip %[[V2]], 0, 64 {dim = 1}
//  CHECK-NEXT:   tile.store %[[CLIPPED]] -> %arg2[0, 0] : 16x16xf16
//  CHECK-NEXT:   tile.copy %arg4[0, 0] -> %arg3 : 16x16xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg6 = 0 to 3 iter_args(%arg7 = %arg5) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[AT:.*]] = %arg6 + 1
//  CHECK-NEXT:     %[[LOADED3:.*]] = tile.load %arg0[%[[AT]], 0] : 16x16xi8 {dims = [1, 0], in_bounds = [false, true]}
//  CHECK-NEXT:     %[[LOADED4:.*]] = tile.load %arg1[0] : 16x16xf16 {dims = [0]}
//  CHECK-NEXT:     %[[LOADED5:.*]] = tile.load %arg4[0, %[[AT]]] : 16x16xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg2[mk], %arg3[kn], %arg7 : 16x16xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[V3:.*]] = arith.sitofp %[[LOADED3]] : vector<16x16xi8> to vector<16x16xf16>
//  CHECK-NEXT:     %[[V4:.*]] = arith.mulf %[[V3]], %[[LOADED4]] : vector<16x16xf16>
//  CHECK-NEXT:     %[[CLIPPED2:.*]] = tile.clip %[[V4]], %[[AT]], 64 {dim = 1}
//  CHECK-NEXT:     tile.store %[[CLIPPED2]] -> %arg2[0, 0] : 16x16xf16
//  CHECK-NEXT:     tile.store %[[LOADED5]] -> %arg3[0, 0] : 16x16xf16 {in_bounds}
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[SUM2:.*]] = tile.mma %arg2[mk], %arg3[kn], %[[LOOP]] : 16x16xf32
//  CHECK-NEXT:   return %[[SUM2]] : vector<16x16xf32>
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
