// unaligned-store-epilogue: results whose rows start between vectors of 16 bytes leave through shared memory; a second run changes
// nothing.
// RUN: mlir-gemm opt --split-input-file %s unaligned-store-epilogue | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s unaligned-store-epilogue unaligned-store-epilogue | FileCheck %s

// Two consumers, each with 64 rows of 128 columns, and 8 more.
// CHECK-LABEL: func.func @rows(
//  CHECK-SAME: %[[D:.*]]: memref<128x131xf16>
//       CHECK:   scf.forall
//  CHECK-NEXT:     %[[STAGING:.*]] = memref.alloc() : memref<2x64x136xf16, 3>
//   CHECK-NOT:     memref.alloc
//   CHECK-NOT:     gpu.barrier
//       CHECK:     "tile.unaligned_store"(%{{.*}}, %[[D]], %[[STAGING]], %{{.*}}, %{{.*}}) {in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf16>, memref<128x131xf16>, memref<2x64x136xf16, 3>, index, index)
//   CHECK-NOT:     tile.store"
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
//       CHECK:   memref.alloc() : memref<1x64x52xf32, 3>
//       CHECK:   "tile.unaligned_store"(
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
//       CHECK:   memref.alloc() : memref<1x40x72xf16, 3>
//       CHECK:   "tile.unaligned_store"({{.*}}) {dims = array<i64: 1, 0>,
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
//       CHECK:   memref.alloc() : memref<2x16x40xf16, 3>
//       CHECK:   "tile.mma"
//       CHECK:   "tile.await"
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   arith.truncf
//  CHECK-NEXT:   "tile.unaligned_store"
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
