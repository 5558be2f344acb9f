// register-prefetch refuses loops whose copies it cannot make a step ahead. Each case is run alone.
// RUN: sed '/^func.func @dynamic(/,/^}/!s/.*//' %s | not mlir-gemm opt - register-prefetch 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: sed '/^func.func @no_step(/,/^}/!s/.*//' %s | not mlir-gemm opt - register-prefetch 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed '/^func.func @too_early(/,/^}/!s/.*//' %s | not mlir-gemm opt - register-prefetch 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: sed '/^func.func @carried(/,/^}/!s/.*//' %s | not mlir-gemm opt - register-prefetch 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: not mlir-gemm opt %s 'register-prefetch{early=perhaps}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'register-prefetch': option 'early=perhaps' is not a value like true

func.func @dynamic(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %steps: index) {
  %z = arith.constant 0 : index
  // DYNAMIC: -:[[# @LINE + 1]]:3: error: a k loop that does not count from 0 in steps of 1 to at least 1 cannot be prefetched
  affine.for %k = 0 to %steps step 2 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @no_step(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>) {
  %z = arith.constant 0 : index
  // NONE: -:[[# @LINE + 1]]:3: error: a k loop that does not count from 0 in steps of 1 to at least 1 cannot be prefetched
  affine.for %k = 4 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @too_early(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    // EARLY: -:[[# @LINE + 1]]:10: error: this uses a staging buffer before the last tile.copy of the step
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @carried(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>, %start: index) -> index {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = affine.for %k = 0 to 4 iter_args(%at = %start) -> index {
    %next = arith.addi %at, %one : index
    // CARRIED: -:[[# @LINE + 1]]:5: error: a copy that depends on what the k loop carries cannot be made a step ahead
    "tile.copy"(%A, %X, %z, %next) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    affine.yield %next : index
  } {tile.loop = "k"}
  return %end : index
}
