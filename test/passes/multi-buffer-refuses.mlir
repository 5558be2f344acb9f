// multi-buffer refuses buffers and loops whose stages would not come in turn. Each case is run alone.
// RUN: sed '/^func.func @outside(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: sed '/^func.func @steps(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not mlir-gemm opt %s 'multi-buffer{stages=0}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed '/^func.func @elsewhere(/,/^}/!s/.*//' %s | mlir-gemm opt - 'multi-buffer{stages=2}' | FileCheck %s --check-prefix=ELSEWHERE

// NONE: error: pass 'multi-buffer{stages=0}': stages must be from 1 to 64

func.func @outside(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  affine.for %k = 0 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  // OUTSIDE: -:[[# @LINE + 1]]:8: error: a staging buffer that is used outside its k loop cannot get several stages
  %v = "tile.load"(%A, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf16, 3>, index, index) -> vector<16x16xf16>
  return
}

// In steps of 2 every step would have the same one of two stages.
func.func @steps(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // STEPS: -:[[# @LINE + 1]]:3: error: a k loop that does not count from 0 in steps of 1 cannot use stages in turn
  affine.for %k = 0 to 64 step 2 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// Buffers outside shared memory, and loops of another level, are left alone.
// ELSEWHERE-LABEL: func.func @elsewhere(
//   ELSEWHERE-NOT:   memref.subview
//       ELSEWHERE:   return
func.func @elsewhere(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16>
  %B = memref.alloc() : memref<16x16xf16, 3>
  affine.for %k = 0 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  affine.for %i = 0 to 4 {
    "tile.copy"(%B, %X, %z, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "block"}
  return
}
