// tile.windows: what its attributes may be.
// RUN: not mlir-gemm opt --split-input-file %s cse 2>&1 | FileCheck %s

// CHECK: expected the sizes [4, 8]
func.func @sizes(%x: memref<4x4x8xf16>) {
  %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 0 : i64, shape = array<i64: 4, 4, 8>,
    sizes = [array<i64: 4>, array<i64: 8>], strides = [array<i64: 8>, array<i64: 1>]} : (memref<4x4x8xf16>) -> memref<4x9xf16>
  return
}

// -----

// CHECK: reaches element 135 of an image that has 128 with the zeros around it
func.func @beyond(%x: memref<4x4x8xf16>) {
  %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 8 : i64, shape = array<i64: 4, 4, 8>,
    sizes = [array<i64: 16>, array<i64: 8>], strides = [array<i64: 8>, array<i64: 1>]} : (memref<4x4x8xf16>) -> memref<16x8xf16>
  return
}

// -----

// CHECK: expected the sizes of an image of memref<4x4x8xf16>, and zeros
func.func @image(%x: memref<4x4x8xf16>) {
  %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 0 : i64, shape = array<i64: 4, 5, 8>,
    sizes = [array<i64: 16>, array<i64: 8>], strides = [array<i64: 8>, array<i64: 1>]} : (memref<4x4x8xf16>) -> memref<16x8xf16>
  return
}

// -----

// CHECK: expected the first size of both open, without zeros around it
func.func @open(%x: memref<?x4x8xf16>, %n: index) {
  %v = "tile.windows"(%x, %n) {high = array<i64: 0, 0, 0>, low = array<i64: 1, 0, 0>, offset = 0 : i64, shape = array<i64: -9223372036854775808, 4, 8>,
    sizes = [array<i64: -9223372036854775808, 4>, array<i64: 8>], strides = [array<i64: 32, 8>, array<i64: 1>]} : (memref<?x4x8xf16>, index) -> memref<?x8xf16>
  return
}

// -----

// CHECK: expected one open number, outermost, where the first size is open
func.func @inner(%x: memref<?x4x8xf16>, %n: index) {
  %v = "tile.windows"(%x, %n) {high = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, offset = 0 : i64, shape = array<i64: -9223372036854775808, 4, 8>,
    sizes = [array<i64: 4, -9223372036854775808>, array<i64: 8>], strides = [array<i64: 8, 32>, array<i64: 1>]} : (memref<?x4x8xf16>, index) -> memref<?x8xf16>
  return
}
