// unaligned-store-epilogue: results whose rows start between vectors of 16 bytes leave through shared memory; a second run changes
// nothing.
// RUN: mlir-gemm opt --split-input-file %s unaligned-store-epilogue --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s unaligned-store-epilogue unaligned-store-epilogue --reading | FileCheck %s

// Two consumers, each with 64 rows of 128 columns, and 8 more.
// CHECK-LABEL: func.func @rows(
//  CHECK-NEXT:   scf.forall (%arg2) in (2) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x136xf16
//  CHECK-NEXT:     %[[UNIT:.*]] = tile.unit_id {unit = warpgroup}
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.unaligned_store %arg1 -> %arg0[%[[UNIT]], 0], through %[[BUFFER]] : 64x128xf16 {in_bounds = [true, false], scope = warpgroup}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
func.func @rows(%D: memref<128x131xf16>, %v: vector<64x128xf16>) {
  scf.forall (%block) in (2) {
    %z = arith.constant 0 : index
    %row = "tile.unit_id"() {unit = "warpgroup"} : () -> index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %row, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, false>, scope = "warpgroup"} : (vector<64x128xf16>, memref<128x131xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}

// -----

// Two equal parts of a tile of more than 256 bytes; f32 has vectors of 4. Rows end aligned, but do not start so.
// CHECK-LABEL: func.func @parts(
//  CHECK-NEXT:   scf.forall (%arg2) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 1x64x52xf32
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.unaligned_store %arg1 -> %arg0[0, 0], through %[[BUFFER]] : 64x96xf32 {scope = warpgroup}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @parts(%D: memref<64x96xf32, strided<[99, 1]>>, %v: vector<64x96xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x96xf32>, memref<64x96xf32, strided<[99, 1]>>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Rows of the memory run down the tile: 40 columns of it at a time, each with 64 elements and 8 more.
// CHECK-LABEL: func.func @columns(
//  CHECK-NEXT:   scf.forall (%arg2) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 1x40x72xf16
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       tile.unaligned_store %arg1 -> %arg0[0, 0], through %[[BUFFER]] : 64x80xf16 {dims = [1, 0], scope = warpgroup}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
func.func @columns(%D: memref<80x67xf16>, %v: vector<64x80xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x80xf16>, memref<80x67xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Of warps without roles: 16 rows each. The buffer may lie where operands were, once all warps have read these.
// CHECK-LABEL: func.func @warps(
//  CHECK-NEXT:   scf.forall (%arg1) in (1) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x16x40xf16
//  CHECK-NEXT:     %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<16x32xf32>
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 16x16xf16
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 16x32xf16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[BUFFER2]][mk], %[[BUFFER3]][kn], %[[V]] : 16x32xf32 {scope = warp}
//  CHECK-NEXT:     tile.await {pending = 0}
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : vector<16x32xf32> to vector<16x32xf16>
//  CHECK-NEXT:     tile.unaligned_store %[[ROUNDED]] -> %arg0[0, 0], through %[[BUFFER]] : 16x32xf16 {scope = warp}
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 2 : i64}
func.func @warps(%D: memref<32x35xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x32xf32>
    %a = memref.alloc() : memref<16x16xf16, 3>
    %b = memref.alloc() : memref<16x32xf16, 3>
    %sum = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x32xf16, 3>, vector<16x32xf32>) -> vector<16x32xf32>
    "tile.await"() {pending = 0 : i64} : () -> ()
    %v = arith.truncf %sum : vector<16x32xf32> to vector<16x32xf16>
    "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x32xf16>, memref<32x35xf16>, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 2 : i64}
  return
}
