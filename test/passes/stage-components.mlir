// stage-components: complex numbers are staged as they lie, half a tile; a second run changes nothing.
// RUN: mlir-gemm opt %s stage-components --reading | FileCheck %s
// RUN: mlir-gemm opt %s stage-components stage-components --reading | FileCheck %s

// CHECK-LABEL: func.func @product(
//   CHECK-NOT:   tile.composite
//       CHECK:   %[[B:.*]] = memref.alloc() : shared 16x64xf16 xor
//       CHECK:     %[[K:.*]] = %{{.*}} * 32
//       CHECK:     tile.copy %arg0
//       CHECK:     %[[HALF:.*]] = %[[K]] floordiv 2
//       CHECK:     tile.copy %arg1[%[[HALF]], 0] -> %[[B]] : 16x64xf16 {in_bounds}
//       CHECK:     %[[WHOLE:.*]] = tile.composite %[[B]]
//       CHECK:     tile.mma %{{.*}}[mk], %[[WHOLE]][kn]
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
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    "tile.store"(%d, %D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}

// Of a batch, each matrix is staged like the only one.
// CHECK-LABEL: func.func @batch(
//       CHECK:     %[[HALF:.*]] = %{{.*}} floordiv 2
//       CHECK:     tile.copy %arg1[2, %[[HALF]], 0] -> %[[B:.*]] : 16x64xf16 {in_bounds}
//       CHECK:     tile.composite %[[B]]
func.func @batch(%A: memref<64x64xf16>, %B: memref<3x32x64xf16>, %D: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %w = "tile.composite"(%B) {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]> : tensor<2x2x2xf64>} : (memref<3x32x64xf16>) -> memref<3x64x64xf16>
  %a = memref.alloc() {tile.layout = "xor"} : memref<64x32xf16, 3>
  %b = memref.alloc() {tile.layout = "xor"} : memref<32x64xf16, 3>
  affine.for %k = 0 to 2 {
    %depth = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
    "tile.copy"(%a, %A, %c0, %depth) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<64x64xf16>, index, index) -> ()
    "tile.copy"(%b, %w, %c2, %depth, %c0) {dims = array<i64: -1, 0, 1>, in_bounds = array<i1: true, true, true>, operandSegmentSizes = array<i32: 1, 1, 3>} : (memref<32x64xf16, 3>, memref<3x64x64xf16>, index, index, index) -> ()
    %c = "tile.load"(%D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    "tile.store"(%d, %D, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "k"}
  return
}
