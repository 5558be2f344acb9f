// multi-buffer: staging buffers get several stages, used in turn; a second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' 'multi-buffer{stages=3}' | FileCheck %s
// RUN: mlir-gemm opt %s multi-buffer | FileCheck %s --check-prefix=ONE

// CHECK: #[[TURN:.*]] = affine_map<(d0) -> (d0 mod 3)>
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[A:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<3x16x32xf16, 3>
//  CHECK-NEXT:   %[[B:.*]] = memref.alloc() : memref<3x32x16xf16, 3>
//       CHECK:   affine.for %[[K:.*]] = 0 to 4
//  CHECK-NEXT:     %[[STAGE:.*]] = affine.apply #[[TURN]](%[[K]])
//  CHECK-NEXT:     %[[SA:.*]] = memref.subview %[[A]][%[[STAGE]], 0, 0] [1, 16, 32] [1, 1, 1] : memref<3x16x32xf16, 3> to memref<16x32xf16, strided<[32, 1], offset: ?>, 3>
//  CHECK-NEXT:     %[[SB:.*]] = memref.subview %[[B]][%[[STAGE]], 0, 0] [1, 32, 16] [1, 1, 1] : memref<3x32x16xf16, 3> to memref<32x16xf16, strided<[16, 1], offset: ?>, 3>
//       CHECK:     "tile.copy"(%[[SA]], %{{.*}})
//       CHECK:     "tile.copy"(%[[SB]], %{{.*}})
//       CHECK:     "tile.mma"(%[[SA]], %[[SB]], %{{.*}})

// With one stage nothing changes.
// ONE-LABEL: func.func @product(
//       ONE:   memref.alloc() {tile.layout = "pad8"} : memref<16x32xf16, 3>
//   ONE-NOT:   memref.subview
//       ONE:   return
func.func @product(%X: memref<16x128xf16>, %Y: memref<128x16xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() {tile.layout = "pad8"} : memref<16x32xf16, 3>
  %B = memref.alloc() : memref<32x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %l = affine.apply affine_map<(k) -> (k * 32)>(%k)
    "tile.copy"(%A, %X, %z, %l) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf16, 3>, memref<16x128xf16>, index, index) -> ()
    "tile.copy"(%B, %Y, %l, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x16xf16, 3>, memref<128x16xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x32xf16, 3>, memref<32x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}
