// promote-operands: factors are staged in shared memory; a second run changes nothing.
// RUN: mlir-gemm opt %s promote-operands promote-operands | FileCheck %s
// RUN: mlir-gemm opt %s 'promote-operands{pad=0}' | FileCheck %s --check-prefix=PAD

// PAD-COUNT-2: memref.alloc() {tile.layout = "pad0"}
//     PAD-NOT: memref.alloc
//         PAD: return

// The copies stand in the order of the loads. The accumulator, which does not move with k, is not staged.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[A:.*]]: memref<32x32xf16>, %[[B:.*]]: memref<32x48xf16>, %[[C:.*]]: memref<32x48xf32>
//       CHECK:     affine.for %[[J:.*]] = 0 to 6 {
//  CHECK-NEXT:       %[[SB:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<16x8xf16, 3>
//  CHECK-NEXT:       %[[SA:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<16x16xf16, 3>
//  CHECK-NEXT:       affine.for %[[L:.*]] = 0 to 2 {
//  CHECK-NEXT:         %[[M0:.*]] = affine.apply #{{.*}}(%{{.*}})
//  CHECK-NEXT:         %[[K0:.*]] = affine.apply #{{.*}}(%[[L]])
//  CHECK-NEXT:         "tile.copy"(%[[SA]], %[[A]], %[[M0]], %[[K0]])
//  CHECK-NEXT:         %[[K1:.*]] = affine.apply #{{.*}}(%[[L]])
//  CHECK-NEXT:         %[[N1:.*]] = affine.apply #{{.*}}(%[[J]])
//  CHECK-NEXT:         "tile.copy"(%[[SB]], %[[B]], %[[K1]], %[[N1]])
//  CHECK-NEXT:         affine.for %[[M:.*]] = 0 to 16 {
//  CHECK-NEXT:           affine.for %[[N:.*]] = 0 to 8 {
//  CHECK-NEXT:             affine.for %[[K:.*]] = 0 to 16 {
//  CHECK-NEXT:               affine.load %[[SA]][%[[M]], %[[K]]] : memref<16x16xf16, 3>
//  CHECK-NEXT:               affine.load %[[SB]][%[[K]], %[[N]]] : memref<16x8xf16, 3>
//  CHECK-NEXT:               affine.load %[[C]]
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @product(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 6 {
      affine.for %l = 0 to 2 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 8 {
            affine.for %k = 0 to 16 {
              %a = affine.load %A[%i * 16 + %m, %l * 16 + %k] : memref<32x32xf16>
              %b = affine.load %B[%l * 16 + %k, %j * 8 + %n] : memref<32x48xf16>
              %c = affine.load %C[%i * 16 + %m, %j * 8 + %n] : memref<32x48xf32>
              %x = arith.extf %a : f16 to f32
              %y = arith.extf %b : f16 to f32
              %p = arith.mulf %x, %y : f32
              %s = arith.addf %c, %p : f32
              affine.store %s, %C[%i * 16 + %m, %j * 8 + %n] : memref<32x48xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}
