// promote-c: what the sums start from, and what the epilogue adds, comes through shared memory; a second run changes
// nothing.
// RUN: mlir-gemm opt --split-input-file %s promote-c --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s promote-c promote-c --reading | FileCheck %s

// What the sums start from, and what is added to them at the end, after all warps have multiplied.
// CHECK-LABEL: func.func @sum(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf16 pad8
//       CHECK:   tile.copy %arg2[0, 0] -> %[[BUFFER]] : 64x32xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[C:.*]] = tile.load %[[BUFFER]][0, 0] : 64x32xf16 {in_bounds}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   arith.extf %[[C]]
//       CHECK:     scf.yield
//  CHECK-NEXT:   }
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.copy %arg3[0, 0] -> %[[ADDED:.*]] : 64x32xf32
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.load %[[ADDED]][0, 0] : 64x32xf32 {in_bounds}
//   CHECK-NOT:   gpu.barrier
func.func @sum(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<64x32xf16>, %R: memref<64x32xf32>, %D: memref<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c = "tile.load"(%C, %z, %z) {in_bounds = array<i1: true, false>} : (memref<64x32xf16>, index, index) -> vector<64x32xf16>
    %start = arith.extf %c : vector<64x32xf16> to vector<64x32xf32>
    %r = "tile.load"(%R, %z, %z) : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
    %end = scf.for %k = %z to %one step %one iter_args(%acc = %start) -> (vector<64x32xf32>) {
      %sum = "tile.mma"(%A, %B, %acc) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
      scf.yield %sum : vector<64x32xf32>
    }
    %out = arith.addf %end, %r : vector<64x32xf32>
    "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// In the order of the memory.
// CHECK-LABEL: func.func @down(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 32x64xf32 pad8
//       CHECK:   tile.copy %arg2[%{{.*}}, 0, 0] -> %[[BUFFER]] : 32x64xf32
//       CHECK:   tile.load %[[BUFFER]][0, 0] : 64x32xf32 {dims = [1, 0], in_bounds}
func.func @down(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<3x32x64xf32>, %D: memref<64x32xf32>) {
  scf.forall (%block) in (3) {
    %z = arith.constant 0 : index
    %c = "tile.load"(%C, %block, %z, %z) {dims = array<i64: -1, 1, 0>} : (memref<3x32x64xf32>, index, index, index) -> vector<64x32xf32>
    %sum = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    "tile.store"(%sum, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Where copies of operands have a role of their own, the consumers read C through shared memory, also in a loop over
// tiles.
// CHECK-LABEL: func.func @role(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf32 pad8
//       CHECK:   tile.warp_specialize
//       CHECK:   scf.for
//       CHECK:     tile.copy %arg2[%{{.*}}, 0] -> %[[BUFFER]]
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[C:.*]] = tile.load %[[BUFFER]][0, 0]
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     tile.mma %{{.*}}, %{{.*}}, %[[C]]
func.func @role(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<256x32xf32>, %D: memref<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      scf.for %row = %z to %c256 step %c64 {
        %c = "tile.load"(%C, %row, %z) : (memref<256x32xf32>, index, index) -> vector<64x32xf32>
        %sum = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
        "tile.store"(%sum, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
      } {tile.tiles}
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Matrices of one type follow each other in one buffer. What is the same for all rows stays with the lanes.
// CHECK-LABEL: func.func @added(
//       CHECK:   %[[OTHER:.*]] = memref.alloc() : shared 64x32xf16 pad8
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf32 pad8
//   CHECK-NOT:   memref.alloc
//       CHECK:   tile.mma
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.copy %arg2[0, 0] -> %[[BUFFER]]
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.load %[[BUFFER]]
//       CHECK:   tile.load %arg4[0] : 64x32xf32 {dims = [1]
//       CHECK:   gpu.barrier
//  CHECK-NEXT:   tile.copy %arg3[0, 0] -> %[[BUFFER]]
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   tile.load %[[BUFFER]]
//       CHECK:   gpu.barrier
//  CHECK-NEXT:   tile.copy %arg5[0, 0] -> %[[OTHER]]
//   CHECK-NOT:   tile.copy
func.func @added(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %R: memref<64x32xf32>, %S: memref<64x32xf32>, %bias: memref<32xf32>, %C: memref<64x32xf16>, %D: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    %r = "tile.load"(%R, %z, %z) : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
    %1 = arith.addf %sum, %r : vector<64x32xf32>
    %b = "tile.load"(%bias, %z) {dims = array<i64: 1>} : (memref<32xf32>, index) -> vector<64x32xf32>
    %2 = arith.addf %1, %b : vector<64x32xf32>
    %s = "tile.load"(%S, %z, %z) : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
    %3 = arith.addf %2, %s : vector<64x32xf32>
    %c = "tile.load"(%C, %z, %z) : (memref<64x32xf16>, index, index) -> vector<64x32xf16>
    %wide = arith.extf %c : vector<64x32xf16> to vector<64x32xf32>
    %4 = arith.addf %3, %wide : vector<64x32xf32>
    "tile.store"(%4, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Consumers beside a role of copies meet again at the end of each tile.
// CHECK-LABEL: func.func @added_in_a_role(
//       CHECK:     tile.mma
//  CHECK-NEXT:     tile.copy %arg2[%{{.*}}, 0] -> %[[BUFFER:.*]] : 64x32xf32
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     tile.load %[[BUFFER]][0, 0]
//       CHECK:     tile.store
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:   } {tile.tiles}
func.func @added_in_a_role(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %R: memref<256x32xf32>, %D: memref<256x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      scf.for %row = %z to %c256 step %c64 {
        %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
        %r = "tile.load"(%R, %row, %z) : (memref<256x32xf32>, index, index) -> vector<64x32xf32>
        %out = arith.addf %sum, %r : vector<64x32xf32>
        "tile.store"(%out, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<256x32xf32>, index, index) -> ()
      } {tile.tiles}
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
