// stage-components: what cannot be staged as elements.
// RUN: not mlir-gemm opt %s stage-components --split-input-file 2>&1 | FileCheck %s

// CHECK: a tile of 32x64 of elements of 3 components; expected multiples of 3
func.func @product(%A: memref<64x64xf16>, %B: memref<32x63xf16>, %D: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %w = "tile.composite"(%B) {constants = dense<1.0> : tensor<3x3x3xf64>} : (memref<32x63xf16>) -> memref<96x63xf16>
  %a = memref.alloc() {tile.layout = "xor"} : memref<64x32xf16, 3>
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  affine.for %k = 0 to 2 {
    %depth = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
    "tile.copy"(%a, %A, %c0, %depth) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy"(%b, %w, %depth, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<96x63xf16>, index, index) -> ()
    %c = "tile.load"(%D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    "tile.store"(%d, %D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// -----

// CHECK: a tile of a tile.composite that is not B of one product
func.func @product(%A: memref<64x64xf16>, %B: memref<32x64xf16>, %D: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %w = "tile.composite"(%B) {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]> : tensor<2x2x2xf64>} : (memref<32x64xf16>) -> memref<64x64xf16>
  %a = memref.alloc() {tile.layout = "xor"} : memref<64x32xf16, 3>
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  affine.for %k = 0 to 2 {
    %depth = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
    "tile.copy"(%a, %A, %c0, %depth) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy"(%b, %w, %depth, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<64x64xf16>, index, index) -> ()
    %c = "tile.load"(%D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %d = "tile.mma"(%b, %a, %c) {a = "km", b = "nk"} : (memref<32x64xf16, 3>, memref<64x32xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    "tile.store"(%d, %D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// -----

// CHECK: a tile.composite that is used 2 times, or not by a tile.copy; expected one
func.func @product(%A: memref<64x64xf16>, %B: memref<32x64xf16>, %D: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %w = "tile.composite"(%B) {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]> : tensor<2x2x2xf64>} : (memref<32x64xf16>) -> memref<64x64xf16>
  %u = memref.load %w[%c0, %c0] : memref<64x64xf16>
  %a = memref.alloc() {tile.layout = "xor"} : memref<64x32xf16, 3>
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  affine.for %k = 0 to 2 {
    %depth = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
    "tile.copy"(%a, %A, %c0, %depth) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy"(%b, %w, %depth, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<64x64xf16>, index, index) -> ()
    %c = "tile.load"(%D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    "tile.store"(%d, %D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}
