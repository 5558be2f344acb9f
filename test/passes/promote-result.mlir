// promote-result: block tiles leave through shared memory; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s promote-result --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s promote-result promote-result --reading | FileCheck %s

// In bands of 16 KB, with a bound where the store had one.
// CHECK-LABEL: func.func @rows(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x128xf32 pad8
//       CHECK:   %[[SUM:.*]] = tile.mma
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.store %[[SUM]] -> %[[BUFFER]][0, 0] : 64x128xf32 {in_bounds}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[FIRST:.*]] = tile.load %[[BUFFER]][0, 0] : 32x128xf32 {in_bounds}
//  CHECK-NEXT:   tile.store %[[FIRST]] -> %arg2[%{{.*}}, 0] : 32x128xf32 {in_bounds = [false, true]}
//  CHECK-NEXT:   %[[SECOND:.*]] = tile.load %[[BUFFER]][32, 0] : 32x128xf32 {in_bounds}
//  CHECK-NEXT:   %[[ROW:.*]] = arith.addi %{{.*}}, 32
//  CHECK-NEXT:   tile.store %[[SECOND]] -> %arg2[%[[ROW]], 0] : 32x128xf32 {in_bounds = [false, true]}
//  CHECK-NEXT: } {mapping
func.func @rows(%A: memref<64x16xf16, 3>, %B: memref<16x128xf16, 3>, %D: memref<100x256xf32>, %zero: vector<64x128xf32>) {
  scf.forall (%block) in (2) {
    %z = arith.constant 0 : index
    %side = arith.constant 64 : index
    %row = arith.muli %block, %side : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x128xf16, 3>, vector<64x128xf32>) -> vector<64x128xf32>
    "tile.store"(%sum, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: false, true>} : (vector<64x128xf32>, memref<100x256xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// The buffer has the order of the memory, here that of columns, of a batch.
// CHECK-LABEL: func.func @turned(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 32x64xf16 pad8
//       CHECK:   tile.store %{{.*}} -> %[[BUFFER]][0, 0] : 64x32xf16 {dims = [1, 0], in_bounds}
//       CHECK:   %[[WHOLE:.*]] = tile.load %[[BUFFER]][0, 0] : 32x64xf16 {in_bounds}
//  CHECK-NEXT:   tile.store %[[WHOLE]] -> %arg2[%{{.*}}, 0, 0] : 32x64xf16 {in_bounds}
//  CHECK-NEXT: } {mapping
func.func @turned(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %D: memref<3x32x64xf16>, %zero: vector<64x32xf16>) {
  scf.forall (%block) in (3) {
    %z = arith.constant 0 : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf16>) -> vector<64x32xf16>
    "tile.store"(%sum, %D, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 3>, dims = array<i64: -1, 1, 0>, in_bounds = array<i1: true, true, true>} : (vector<64x32xf16>, memref<3x32x64xf16>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Of several results each stays as it is.
// CHECK-LABEL: func.func @two(
//   CHECK-NOT:   memref.alloc
//       CHECK:   tile.store %[[SUM:.*]] -> %arg2[0, 0] : 64x32xf32
//  CHECK-NEXT:   tile.store %[[SUM]] -> %arg3[0, 0] : 64x32xf32
func.func @two(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %D: memref<64x32xf32>, %E: memref<64x32xf32>, %zero: vector<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    "tile.store"(%sum, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
    "tile.store"(%sum, %E, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
