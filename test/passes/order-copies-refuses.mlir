// order-copies refuses a step that reads before its last copy, and leaves loops without copies and other loops alone.
// RUN: sed '/^func.func @too_early(/,/^}/!s/.*//' %s | not mlir-gemm opt - order-copies 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: sed '/^func.func @alone(/,/^}/!s/.*//' %s | mlir-gemm opt - order-copies | FileCheck %s --check-prefix=ALONE

func.func @too_early(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %B: memref<16x16xf16, 3>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    // EARLY: -:[[# @LINE + 1]]:10: error: this uses a staging buffer before the last tile.copy of the step
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.copy"(%B, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// ALONE-LABEL: func.func @alone(
//   ALONE-NOT:   gpu.barrier
//       ALONE:   return
func.func @alone(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
  } {tile.loop = "k"}
  affine.for %i = 0 to 4 {
    "tile.copy"(%A, %X, %z, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "block"}
  return
}
