// tma-store-epilogue: the first result that the copy engine can write leaves through shared memory; a second run changes
// nothing.
// RUN: mlir-gemm opt --split-input-file %s tma-store-epilogue --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s tma-store-epilogue tma-store-epilogue --reading | FileCheck %s

// Two consumers, two panels of 64 rows and 128 bytes each. The other stores stay.
// CHECK-LABEL: func.func @results(
//  CHECK-NEXT:   scf.forall (%arg3) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 4x64x64xf16 swizzle128
//  CHECK-NEXT:     %[[UNIT:.*]] = tile.unit_id {unit = warpgroup}
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.tma_store %arg2 -> %arg0[%[[UNIT]], 0], through %[[BUFFER]] : 64x128xf16 {in_bounds = [false, true], scope = warpgroup}
//  CHECK-NEXT:       tile.store %arg2 -> %arg1[%[[UNIT]], 0] : 64x128xf16 {scope = warpgroup}
//  CHECK-NEXT:       tile.tma_store_wait
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
func.func @results(%D: memref<128x128xf16>, %E: memref<128x128xf16>, %v: vector<64x128xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %row = "tile.unit_id"() {unit = "warpgroup"} : () -> index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: false, true>, scope = "warpgroup"} : (vector<64x128xf16>, memref<128x128xf16>, index, index) -> ()
      "tile.store"(%v, %E, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf16>, memref<128x128xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}

// -----

// Rows of 192 bytes: panels of 64.
// CHECK-LABEL: func.func @narrow(
//  CHECK-NEXT:   scf.forall (%arg2) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x32xf16 swizzle64
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.tma_store %arg1 -> %arg0[0, 0], through %[[BUFFER]] : 64x96xf16 {scope = warpgroup}
//  CHECK-NEXT:       tile.tma_store_wait
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @narrow(%D: memref<64x96xf16>, %v: vector<64x96xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x96xf16>, memref<64x96xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// f32: a panel is 32 columns. A batch dimension lies at one index.
// CHECK-LABEL: func.func @batch(
//  CHECK-NEXT:   scf.forall (%arg2) in (3) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x32xf32 swizzle128
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.tma_store %arg1 -> %arg0[%arg2, 0, 0], through %[[BUFFER]] : 64x96xf32 {scope = warpgroup}
//  CHECK-NEXT:       tile.tma_store_wait
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @batch(%D: memref<3x64x96xf32>, %v: vector<64x96xf32>) {
  scf.forall (%block) in (3) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 3>, scope = "warpgroup"} : (vector<64x96xf32>, memref<3x64x96xf32>, index, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Rows of the memory down the tile: a panel holds 64 rows of 56 of its columns, the most that divide them.
// CHECK-LABEL: func.func @transposed(
//  CHECK-NEXT:   scf.forall (%arg2) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x56x64xf16 swizzle128
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.tma_store %arg1 -> %arg0[0, 0], through %[[BUFFER]] : 128x112xf16 {dims = [1, 0], scope = warpgroup}
//  CHECK-NEXT:       tile.tma_store_wait
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @transposed(%D: memref<112x128xf16>, %v: vector<128x112xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<128x112xf16>, memref<112x128xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Rows of 160 bytes: panels of 32, two of them in a buffer.
// CHECK-LABEL: func.func @narrower(
//  CHECK-NEXT:   scf.forall (%arg2) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x32xf16 swizzle32
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.tma_store %arg1 -> %arg0[0, 0], through %[[BUFFER]] : 64x80xf16 {scope = warpgroup}
//  CHECK-NEXT:       tile.tma_store_wait
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @narrower(%D: memref<64x80xf16>, %v: vector<64x80xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x80xf16>, memref<64x80xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// One tile at two places, which mirror each other: both go through the same panels.
// CHECK-LABEL: func.func @mirrored(
//       CHECK:   %[[BUFFER:.*]] = memref.alloc() : shared 2x64x64xf16 swizzle128
//   CHECK-NOT:   memref.alloc
//       CHECK:   tile.tma_store %arg1 -> %arg0[%arg2, %arg3], through %[[BUFFER]] : 64x64xf16 {scope = warpgroup}
//  CHECK-NEXT:   tile.tma_store %arg1 -> %arg0[%arg3, %arg2], through %[[BUFFER]] : 64x64xf16 {apart, dims = [1, 0], scope = warpgroup}
func.func @mirrored(%D: memref<128x128xf16>, %v: vector<64x64xf16>, %i: index, %j: index) {
  scf.forall (%block) in (1) {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %i, %j) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<128x128xf16>, index, index) -> ()
      "tile.store"(%v, %D, %j, %i) {apart, dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<128x128xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}
