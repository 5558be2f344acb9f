// warp-specialize refuses what has no ring. Each case is run alone.
// RUN: sed '/^func.func @one_stage(/,/^}/!s/.*//' %s | not mlir-gemm opt - warp-specialize 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed '/^func.func @no_step(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: sed '/^func.func @too_early(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: sed '/^func.func @carried(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: sed '/^func.func @different(/,/^}/!s/.*//' %s | not mlir-gemm opt - warp-specialize 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// RUN: sed '/^func.func @other_sum(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: sed '/^func.func @argument(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: sed '/^func.func @guarded(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' warp-specialize 2>&1 | FileCheck %s --check-prefix=GUARDED

func.func @one_stage(%X: memref<16x64xf16>, %A: memref<16x16xf16, 3>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    // ONE: -:[[# @LINE + 1]]:5: error: a buffer that has no stages for the steps to fill one after another cannot be copied to ahead; expected two stages or more, which multi-buffer makes
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @no_step(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // NONE: -:[[# @LINE + 1]]:3: error: a k loop that does not count from 0 in steps of 1 to at least 1 has no ring
  affine.for %k = 0 to 0 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @computed(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  affine.for %k = 0 to 4 {
    %v = "tile.load"(%X, %z, %k) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x64xf16>, index, index) -> vector<16x16xf16>
    %n = arith.negf %v : vector<16x16xf16>
    // COMPUTED: -:[[# @LINE + 1]]:5: error: a computed operand cannot be copied by the copy engine; expected copies only (take mainloop=register_prefetch)
    "tile.store"(%n, %A, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @too_early(%X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  %B = memref.alloc() : memref<16x16xf16, 3>
  affine.for %k = 0 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    // EARLY: -:[[# @LINE + 1]]:10: error: this uses a staging buffer before the last tile.copy of the step
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.copy"(%B, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @carried(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%at = %z) -> index {
    %next = arith.addi %at, %one : index
    // CARRIED: -:[[# @LINE + 1]]:5: error: a copy that depends on what the k loop carries cannot be made a step ahead
    "tile.copy"(%A, %X, %z, %next) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    affine.yield %next : index
  } {tile.loop = "k"}
  return
}

func.func @different(%X: memref<16x64xf16>, %A: memref<2x16x16xf16, 3>, %B: memref<3x16x16xf16, 3>) {
  %z = arith.constant 0 : index
  affine.for %k = 0 to 4 {
    %t = affine.apply affine_map<(k) -> (k mod 2)>(%k)
    %u = affine.apply affine_map<(k) -> (k mod 3)>(%k)
    %S = memref.subview %A[%t, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
    %T = memref.subview %B[%u, 0, 0] [1, 16, 16] [1, 1, 1] : memref<3x16x16xf16, 3> to memref<16x16xf16, strided<[16, 1], offset: ?>, 3>
    "tile.copy"(%S, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x64xf16>, index, index) -> ()
    // DIFFERENT: -:[[# @LINE + 1]]:5: error: a buffer that does not have 2 stages; expected the same for all
    "tile.copy"(%T, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[16, 1], offset: ?>, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @other_sum(%X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // SUM: -:[[# @LINE + 1]]:8: error: a k loop that carries something else than the sum of products; expected c + a b
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = arith.addf %d, %d : vector<16x16xf32>
    affine.yield %e : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

func.func @argument(%X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // ARGUMENT: -:[[# @LINE + 1]]:8: error: a k loop that carries something else than the sum of products; expected c + a b
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    affine.yield %c : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}

func.func @guarded(%steps: index, %X: memref<16x64xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  affine.for %k = 0 to %steps {
    // GUARDED: -:[[# @LINE + 1]]:5: error: a copy that is known to be in bounds, in a loop of as many steps as are known at run time only, cannot be made for steps that there may not be
    "tile.copy"(%A, %X, %z, %k) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}
