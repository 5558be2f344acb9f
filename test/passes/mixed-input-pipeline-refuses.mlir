// mixed-input-pipeline refuses loops that are not of one copied and one computed operand. Each case is run alone.
// RUN: sed '/^func.func @copied(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' mixed-input-pipeline 2>&1 | FileCheck %s --check-prefix=COPIED
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'multi-buffer{stages=2}' mixed-input-pipeline 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - mixed-input-pipeline 2>&1 | FileCheck %s --check-prefix=ONE

func.func @copied(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // COPIED: -:[[# @LINE + 1]]:3: error: all operands are copied; expected one that is copied and one that is computed
  affine.for %k = 0 to 4 {
    "tile.copy"(%A, %X, %z, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

func.func @computed(%X: memref<16x64xf16>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  // COMPUTED: -:[[# @LINE + 1]]:3: error: all operands are computed; expected one that is copied and one that is computed
  affine.for %k = 0 to 4 {
    %v = "tile.load"(%X, %z, %k) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x64xf16>, index, index) -> vector<16x16xf16>
    %n = arith.negf %v : vector<16x16xf16>
    // ONE: -:[[# @LINE + 1]]:5: error: a buffer that has no stages for the steps to fill one after another
    "tile.store"(%n, %A, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
  } {tile.loop = "k"}
  return
}
