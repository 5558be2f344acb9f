// What swizzle-accesses refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s swizzle-accesses 2>&1 | FileCheck %s

func.func @fragment(%i: index) {
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: 'gpu.subgroup_mma_load_matrix' of a buffer with layout xor; expected accesses of vectors and elements, ldmatrix and asynchronous copies only (take layout=pad)
  %f = gpu.subgroup_mma_load_matrix %b[%i, %i] {leadDimension = 64 : index} : memref<32x64xf16, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
  return
}

// -----

func.func @view(%i: index) {
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: 'memref.subview' of a buffer with layout xor
  %v = memref.subview %b[0, 0] [32, 32] [1, 2] : memref<32x64xf16, 3> to memref<32x32xf16, strided<[64, 2]>, 3>
  return
}

// -----

func.func @wide(%i: index) {
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: an access of 32 bytes aligned to 16 in a buffer with layout xor; expected a power of 2 up to 16 and that alignment
  %v = vector.load %b[%i, %i] {alignment = 16 : i64} : memref<32x64xf16, 3>, vector<16xf16>
  return
}

// -----

func.func @unaligned(%i: index) {
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: an access of 8 bytes aligned to 2 in a buffer with layout xor
  %v = vector.load %b[%i, %i] : memref<32x64xf16, 3>, vector<4xf16>
  return
}

// -----

func.func @rows(%i: index) {
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: layout xor for memref<32x12xf16, 3>; expected a dense buffer with rows of a multiple of 16 bytes
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x12xf16, 3>
  return
}

// -----

func.func @panels(%i: index) {
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: layout swizzle128 for memref<32x96xf16, 3>; expected a dense buffer with rows of a multiple of 128 bytes
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<32x96xf16, 3>
  return
}

// -----

func.func @panels_of_no_view(%i: index) {
  // CHECK: swizzle-accesses-refuses.mlir:[[# @LINE + 1]]:8: error: 'memref.alloc' of panels; expected memref.view, which place-shared makes
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<32x128xf16, 3>
  return
}
