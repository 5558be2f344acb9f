// compress-operand: what cannot be staged compressed.
// RUN: not mlir-gemm opt %s compress-operand --split-input-file 2>&1 | FileCheck %s

// CHECK: an argument with tile.sparse that is used 0 times, or not by a tile.copy; expected one, of a product's A
func.func @f(%A: memref<256x128xf16> {tile.sparse = "2:4"}, %B: memref<64x64xf16, 3>, %c: vector<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
  return
}

// -----

// CHECK: a tile of an argument with tile.sparse that is not A of one product
func.func @f(%A: memref<256x128xf16> {tile.sparse = "2:4"}, %B: memref<64x64xf16, 3>, %c: vector<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
  "tile.copy"(%a, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<128x64xf16, 3>, memref<256x128xf16>, index, index) -> ()
  return
}

// -----

// CHECK: a tile of an argument with tile.sparse whose rows do not run along k
func.func @f(%A: memref<256x128xf16> {tile.sparse = "2:4"}, %B: memref<64x64xf16, 3>, %c: vector<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xf16, 3>
  "tile.copy"(%a, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x128xf16, 3>, memref<256x128xf16>, index, index) -> ()
  %d = "tile.mma"(%a, %B, %c) {a = "km", b = "kn"} : (memref<64x128xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
  return
}

// -----

// CHECK: a sparse tile of 128x32; expected rows that 16 divides, and a k that 64 divides
func.func @f(%A: memref<256x128xf16> {tile.sparse = "2:4"}, %B: memref<32x64xf16, 3>, %c: vector<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {tile.layout = "swizzle64"} : memref<128x32xf16, 3>
  "tile.copy"(%a, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<128x32xf16, 3>, memref<256x128xf16>, index, index) -> ()
  %d = "tile.mma"(%a, %B, %c) {a = "mk", b = "kn"} : (memref<128x32xf16, 3>, memref<32x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
  return
}
