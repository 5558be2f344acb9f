// transpose-operand: what cannot be transposed where it lies.
// RUN: not mlir-gemm opt %s transpose-operand --split-input-file 2>&1 | FileCheck %s

// CHECK: B of 128x64 bytes that run along n, which is transposed where it lies; expected a k of 128, and an n that 128 divides
func.func @narrow(%a: memref<64x128xi8, 3>, %b: memref<128x64xi8, 3>, %c: vector<64x64xi32>) -> vector<64x64xi32> {
  %s = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x128xi8, 3>, memref<128x64xi8, 3>, vector<64x64xi32>) -> vector<64x64xi32>
  return %s : vector<64x64xi32>
}

// -----

// CHECK: B of 256x128 bytes that run along n
func.func @deep(%a: memref<64x256xi8, 3>, %b: memref<256x128xi8, 3>, %c: vector<64x128xi32>) -> vector<64x128xi32> {
  %s = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x256xi8, 3>, memref<256x128xi8, 3>, vector<64x128xi32>) -> vector<64x128xi32>
  return %s : vector<64x128xi32>
}

// -----

// CHECK: B that runs along n, and that something else reads too; expected one product
func.func @shared(%a: memref<64x128xi8, 3>, %b: memref<128x128xi8, 3>, %c: vector<64x128xi32>) -> vector<64x128xi32> {
  %s = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x128xi8, 3>, memref<128x128xi8, 3>, vector<64x128xi32>) -> vector<64x128xi32>
  %t = "tile.mma"(%a, %b, %s) {a = "mk", b = "kn"} : (memref<64x128xi8, 3>, memref<128x128xi8, 3>, vector<64x128xi32>) -> vector<64x128xi32>
  return %t : vector<64x128xi32>
}
