// tma-store-epilogue leaves stores alone that the copy engine cannot make; it has no options.
// RUN: mlir-gemm opt --split-input-file %s tma-store-epilogue | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s tma-store-epilogue | FileCheck %s --check-prefix=NONE
// RUN: not mlir-gemm opt %s 'tma-store-epilogue{rows=64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'tma-store-epilogue' has no option 'rows' (options: none)
// NONE-NOT: {{tile.store_|memref.alloc}}

// CHECK-LABEL: func.func @alone(
//  CHECK-SAME: %[[WIDE:.*]]: memref<64x64xf64>, %[[NARROW:.*]]: memref<64x16xf16>, %[[ACROSS:.*]]: memref<64x64xf32>, %[[ODD:.*]]: memref<64x66xf16>, %[[STRIDED:.*]]: memref<64x64xf16, strided<[128, 2]>>, %[[WARP:.*]]: memref<64x64xf16>
func.func @alone(%wide: memref<64x64xf64>, %narrow: memref<64x16xf16>, %across: memref<64x64xf32>, %odd: memref<64x66xf16>,
                 %strided: memref<64x64xf16, strided<[128, 2]>>, %warp: memref<64x64xf16>,
                 %d: vector<64x64xf64>, %n: vector<64x16xf16>, %v: vector<64x64xf16>,
                 %s: vector<64x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      // Elements of 64 bits.
      // CHECK: "tile.store"(%{{.*}}, %[[WIDE]],
      "tile.store"(%d, %wide, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf64>, memref<64x64xf64>, index, index) -> ()
      // No whole panel of 64 bytes.
      // CHECK: "tile.store"(%{{.*}}, %[[NARROW]],
      "tile.store"(%n, %narrow, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x16xf16>, memref<64x16xf16>, index, index) -> ()
      // Columns of the tile along rows of the memory, of 32 bits.
      // CHECK: "tile.store"(%{{.*}}, %[[ACROSS]],
      "tile.store"(%s, %across, %z, %z) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
      // Rows that are not aligned: 132 bytes.
      // CHECK: "tile.store"(%{{.*}}, %[[ODD]],
      "tile.store"(%v, %odd, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x66xf16>, index, index) -> ()
      // Neighbours that are apart.
      // CHECK: "tile.store"(%{{.*}}, %[[STRIDED]],
      "tile.store"(%v, %strided, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x64xf16, strided<[128, 2]>>, index, index) -> ()
      // A warp's tile.
      // CHECK: "tile.store"(%{{.*}}, %[[WARP]],
      "tile.store"(%v, %warp, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<64x64xf16>, memref<64x64xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// Without roles there is nobody to wait for them.
// CHECK-LABEL: func.func @no_roles(
//       CHECK:   "tile.store"(
func.func @no_roles(%D: memref<64x64xf16>, %v: vector<64x64xf16>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.store"(%v, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<64x64xf16>, index, index) -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}
