// unaligned-store-epilogue leaves stores that need no buffer, or that one would not help, as they are.
// RUN: mlir-gemm opt %s unaligned-store-epilogue | FileCheck %s
// RUN: sed -e s/,.tile.warps.=.8.:.i64// %s | not mlir-gemm opt - unaligned-store-epilogue 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not mlir-gemm opt %s 'unaligned-store-epilogue{rows=64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// WARPS: error: {{.*}}blocks without 'tile.warps'
// OPTION: error: pass 'unaligned-store-epilogue' has no option 'rows' (options: none)

// CHECK-NOT: tile.unaligned_store
// CHECK-NOT: memref.alloc

// Rows start and end at multiples of 16 bytes.
func.func @aligned(%D: memref<64x136xf16>, %v: vector<64x64xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x136xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// Rows of a tile of 48 bytes.
func.func @short(%D: memref<64x25xf16>, %v: vector<64x24xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x24xf16>, memref<64x25xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// f64: two of them are a vector.
func.func @wide(%D: memref<64x65xf64>, %v: vector<64x64xf64>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf64>, memref<64x65xf64>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// Two results.
func.func @several(%D: memref<64x65xf16>, %E: memref<64x65xf16>, %v: vector<64x64xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x65xf16>, index, index) -> ()
      "tile.store"(%v, %E, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x65xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// A store in the loop over k, as with accumulate=off.
func.func @in_loop(%D: memref<64x65xf16>, %v: vector<16x32xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %k = %z to %one step %one {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x32xf16>, memref<64x65xf16>, index, index) -> ()
    }
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// The block's tile, not a warp's.
func.func @whole(%D: memref<64x65xf16>, %v: vector<64x64xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf16>, memref<64x65xf16>, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// Only this one would be staged.
// CHECK-LABEL: func.func @last(
// CHECK: tile.unaligned_store
func.func @last(%D: memref<64x65xf16>, %v: vector<64x64xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x65xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}
