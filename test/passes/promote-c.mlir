// promote-c: the tile that the sums start from comes through shared memory; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s promote-c --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s promote-c promote-c --reading | FileCheck %s

// What the sums start from, and not what is added to them at the end.
// CHECK-LABEL: func.func @sum(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 64x32xf16 pad8
//       CHECK:   tile.copy %arg2[0, 0] -> %[[BUFFER]] : 64x32xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[C:.*]] = tile.load %[[BUFFER]][0, 0] : 64x32xf16 {in_bounds}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   arith.extf %[[C]]
//       CHECK:   tile.load %arg3[0, 0] : 64x32xf32
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
