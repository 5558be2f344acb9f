// share-sizes refuses sizes without names, names without sense, and dimensions that are not told.
// RUN: not mlir-gemm opt --split-input-file %s share-sizes 2>&1 | FileCheck %s

// CHECK: :[[# @LINE + 1]]:1: error: memref<?x24xf16> with a dynamic size that tile.symbols does not name; name-sizes writes it
func.func @unnamed(%A: memref<?x24xf16>) {
  return
}

// -----

// CHECK: :[[# @LINE + 1]]:1: error: tile.symbols: 's0+1' is no product of numbers and symbols
func.func @sum(%A: memref<?x24xf16> {tile.symbols = ["s0+1", ""]}) {
  return
}

// -----

// CHECK: :[[# @LINE + 1]]:1: error: tile.symbols has 1 entries; expected 2
func.func @short(%A: memref<?x24xf16> {tile.symbols = ["s0"]}) {
  return
}

// -----

func.func @moving(%A: memref<?x24xf16> {tile.symbols = ["s0", ""]}, %i: index) {
  // CHECK: :[[# @LINE + 1]]:8: error: memref.dim of a dimension that is not a constant
  %d = memref.dim %A, %i : memref<?x24xf16>
  return
}
