// transpose-operand: B of bytes that runs along n is transposed where it lies, before its product.
// RUN: mlir-gemm opt %s transpose-operand --reading | FileCheck %s
// RUN: mlir-gemm opt %s transpose-operand transpose-operand --reading | FileCheck %s

// CHECK-LABEL: func.func @product(
//       CHECK:     tile.copy %arg1{{.*}} -> %[[B:.*]] : 128x256xi8
//  CHECK-NEXT:     %[[T:.*]] = tile.transpose %[[B]]
//  CHECK-NEXT:     tile.mma %{{.*}}[km], %[[T]][nk]
func.func @product(%A: memref<512x64xi8>, %B: memref<512x256xi8>, %D: memref<64x256xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<64x256xi32>
  %a = memref.alloc() {tile.layout = "swizzle64"} : memref<128x64xi8, 3>
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<128x256xi8, 3>
  %d = affine.for %k = 0 to 4 iter_args(%c = %zero) -> (vector<64x256xi32>) {
    %depth = affine.apply affine_map<(d0) -> (d0 * 128)>(%k)
    "tile.copy"(%a, %A, %depth, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<128x64xi8, 3>, memref<512x64xi8>, index, index) -> ()
    "tile.copy"(%b, %B, %depth, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<128x256xi8, 3>, memref<512x256xi8>, index, index) -> ()
    %s = "tile.mma"(%a, %b, %c) {a = "km", b = "kn"} : (memref<128x64xi8, 3>, memref<128x256xi8, 3>, vector<64x256xi32>) -> vector<64x256xi32>
    affine.yield %s : vector<64x256xi32>
  } {tile.loop = "k"}
  "tile.store"(%d, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x256xi32>, memref<64x256xi32>, index, index) -> ()
  return
}

// What runs along k, and elements of other sizes, stay as they are.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT:   tile.transpose
//       CHECK:   tile.mma %{{.*}}[km], %{{.*}}[nk]
//       CHECK:   tile.mma %{{.*}}[mk], %{{.*}}[kn]
func.func @others(%a: memref<128x64xi8, 3>, %b: memref<32x128xi8, 3>, %h: memref<64x64xf16, 3>, %c: vector<64x32xi32>, %f: vector<64x64xf32>) -> (vector<64x32xi32>, vector<64x64xf32>) {
  %s = "tile.mma"(%a, %b, %c) {a = "km", b = "nk"} : (memref<128x64xi8, 3>, memref<32x128xi8, 3>, vector<64x32xi32>) -> vector<64x32xi32>
  %t = "tile.mma"(%h, %h, %f) {a = "mk", b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
  return %s, %t : vector<64x32xi32>, vector<64x64xf32>
}
