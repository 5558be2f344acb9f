// find-triangles: a triangle is lower or upper; what is promised is a matrix; a list has blocks that the matrix has.
// RUN: sed 's/MARK/triangular = "left"/' %s | not mlir-gemm opt - find-triangles 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: sed 's/MARK/banded = array<i64: 1, 1>/; s/64x64/64/' %s | not mlir-gemm opt - find-triangles 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: sed 's/MARK/blocks = {size = array<i64: 32, 16>, rows = array<i64: 1>, columns = array<i64: 4>}/' %s | not mlir-gemm opt - find-triangles 2>&1 | FileCheck %s --check-prefix=BLOCK

// LEFT: -:[[# @LINE + 3]]:1: error: 'tile.triangular' is "left"; expected "lower" or "upper"
// ROW: -:[[# @LINE + 2]]:1: error: 'tile.banded' on memref<64xf16>; expected a matrix
// BLOCK: -:[[# @LINE + 1]]:1: error: 'tile.blocks' with a block in column 4 of memref<64x64xf16>, which has 4 columns of blocks of 32x16
func.func @marked(%A: memref<64x64xf16> {tile.MARK}) {
  return
}
