// promote-operands: products of one k loop that multiply the same tile share its buffer; a second run changes nothing.
// RUN: mlir-gemm opt %s promote-operands --reading | FileCheck %s
// RUN: mlir-gemm opt %s promote-operands promote-operands --reading | FileCheck %s

// CHECK-LABEL: func.func @both(
//       CHECK:   %[[A:.*]] = memref.alloc() : shared 16x8xf16 pad8
//       CHECK:   %[[B:.*]] = memref.alloc() : shared 8x16xf16 pad8
//       CHECK:   %[[C:.*]] = memref.alloc() : shared 8x16xf16 pad8
//   CHECK-NOT:   memref.alloc
//       CHECK:   tile.copy %arg0[{{.*}}] -> %[[A]]
//       CHECK:   tile.copy %arg1[{{.*}}] -> %[[B]]
//       CHECK:   tile.copy %arg2[{{.*}}] -> %[[C]]
//   CHECK-NOT:   tile.copy
//       CHECK:   affine.load %[[A]]
//       CHECK:   affine.load %[[B]]
//       CHECK:   affine.load %[[A]]
//       CHECK:   affine.load %[[C]]
func.func @both(%A: memref<32x32xf16>, %B: memref<32x32xf16>, %C: memref<32x32xf16>, %P: memref<32x32xf32>, %Q: memref<32x32xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      affine.for %k = 0 to 4 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 16 {
            affine.for %l = 0 to 8 {
              %a = affine.load %A[%i * 16 + %m, %k * 8 + %l] : memref<32x32xf16>
              %b = affine.load %B[%k * 8 + %l, %j * 16 + %n] : memref<32x32xf16>
              %p = affine.load %P[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
              %x = arith.extf %a : f16 to f32
              %y = arith.extf %b : f16 to f32
              %t = arith.mulf %x, %y : f32
              %s = arith.addf %p, %t : f32
              affine.store %s, %P[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 16 {
            affine.for %l = 0 to 8 {
              %a = affine.load %A[%i * 16 + %m, %k * 8 + %l] : memref<32x32xf16>
              %c = affine.load %C[%k * 8 + %l, %j * 16 + %n] : memref<32x32xf16>
              %q = affine.load %Q[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
              %x = arith.extf %a : f16 to f32
              %y = arith.extf %c : f16 to f32
              %t = arith.mulf %x, %y : f32
              %s = arith.addf %q, %t : f32
              affine.store %s, %Q[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}
