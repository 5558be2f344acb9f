// pass-sizes refuses kernels that use what no size tells.
// RUN: not mlir-gemm opt --split-input-file %s pass-sizes 2>&1 | FileCheck %s

func.func @computed(%A: memref<?xf16> {tile.symbols = ["s0"]}, %n: i32) {
  %c1 = arith.constant 1 : index
  // CHECK: :[[# @LINE + 1]]:8: error: the kernel uses what 'arith.index_cast' computes in front of it; expected sizes
  %i = arith.index_cast %n : i32 to index
  gpu.launch blocks(%x, %y, %z) in (%bx = %c1, %by = %c1, %bz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %A[%i] : memref<?xf16>
    gpu.terminator
  }
  return
}

// -----

// CHECK: :[[# @LINE + 1]]:1: error: memref<?xf16, strided<[1], offset: ?>> starts at an offset that tile.offset does not name
func.func @offset(%A: memref<?xf16, strided<[1], offset: ?>> {tile.symbols = ["s0"]}) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%bx = %c1, %by = %c1, %bz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %A[%x] : memref<?xf16, strided<[1], offset: ?>>
    gpu.terminator
  }
  return
}
