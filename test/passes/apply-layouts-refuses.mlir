// What apply-layouts refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s apply-layouts 2>&1 | FileCheck %s

func.func @unknown() {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: 'tile.layout' is "swizzle"; expected "padN" for N more elements in each row, "xor"
  %0 = memref.alloc() {tile.layout = "swizzle"} : memref<4x8xf16, 3>
  return
}

// -----

func.func @not_text() {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: 'tile.layout' is 8 : i64; expected "padN"
  %0 = memref.alloc() {tile.layout = 8 : i64} : memref<4x8xf16, 3>
  return
}

// -----

func.func @dynamic(%n: index) {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: a layout for memref<?x8xf16, 3>; expected a dense buffer of constant sizes with rows
  %0 = memref.alloc(%n) {tile.layout = "pad8"} : memref<?x8xf16, 3>
  return
}

// -----

func.func @rows() {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: a layout for memref<8xf16, 3>
  %0 = memref.alloc() {tile.layout = "pad8"} : memref<8xf16, 3>
  return
}

// -----

func.func @strided() {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: a layout for memref<4x8xf16, strided<[12, 1]>, 3>
  %0 = memref.alloc() {tile.layout = "pad8"} : memref<4x8xf16, strided<[12, 1]>, 3>
  return
}

// -----

func.func @steps() {
  %0 = memref.alloc() {tile.layout = "pad8"} : memref<4x8xf16, 3>
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: a view that does not keep whole rows in steps of 1
  %1 = memref.subview %0[0, 0] [2, 8] [2, 1] : memref<4x8xf16, 3> to memref<2x8xf16, strided<[16, 1]>, 3>
  return
}

// -----

func.func @cast() {
  %0 = memref.alloc() {tile.layout = "pad8"} : memref<4x8xf16, 3>
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: 'memref.cast' of a buffer with a layout is not supported; expected memref.subview
  %1 = memref.cast %0 : memref<4x8xf16, 3> to memref<?x8xf16, 3>
  return
}

// -----

func.func @part_of_a_chunk() {
  // CHECK: apply-layouts-refuses.mlir:[[# @LINE + 1]]:8: error: layout xor for memref<4x12xf16, 3>; expected a dense buffer with rows of a multiple of 16 bytes
  %0 = memref.alloc() {tile.layout = "xor"} : memref<4x12xf16, 3>
  return
}
