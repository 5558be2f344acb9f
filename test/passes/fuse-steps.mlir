// fuse-steps: k loops of the same tiles become one; a second run changes nothing.
// RUN: mlir-gemm opt %s fuse-steps | FileCheck %s
// RUN: mlir-gemm opt %s fuse-steps fuse-steps | FileCheck %s

// Both products multiply A, each by a matrix of its own, into a buffer of its own.
// CHECK-LABEL: func.func @both(
//  CHECK-SAME: %[[A:.*]]: memref<32x32xf32>, %[[B:.*]]: memref<32x32xf32>, %[[C:.*]]: memref<32x32xf32>, %[[P:.*]]: memref<32x32xf32>, %[[Q:[^:]*]]: memref<32x32xf32>
//       CHECK:   affine.for %[[K:.*]] = 0 to 4 {
//       CHECK:     affine.load %[[A]][%{{.*}}, %[[K]] * 8 + %{{.*}}]
//       CHECK:     affine.load %[[B]][%[[K]] * 8 + %{{.*}}, %{{.*}}]
//       CHECK:     affine.store %{{.*}}, %[[P]]
//       CHECK:     affine.load %[[A]][%{{.*}}, %[[K]] * 8 + %{{.*}}]
//       CHECK:     affine.load %[[C]][%[[K]] * 8 + %{{.*}}, %{{.*}}]
//       CHECK:     affine.store %{{.*}}, %[[Q]]
//       CHECK:   } {tile.loop = "k"}
//   CHECK-NOT:   tile.loop = "k"
func.func @both(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %C: memref<32x32xf32>, %P: memref<32x32xf32>, %Q: memref<32x32xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      affine.for %k = 0 to 4 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 16 {
            affine.for %l = 0 to 8 {
              %a = affine.load %A[%i * 16 + %m, %k * 8 + %l] : memref<32x32xf32>
              %b = affine.load %B[%k * 8 + %l, %j * 16 + %n] : memref<32x32xf32>
              %p = affine.load %P[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
              %t = arith.mulf %a, %b : f32
              %s = arith.addf %p, %t : f32
              affine.store %s, %P[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
            } {tile.loop = "point"}
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
      affine.for %k = 0 to 4 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 16 {
            affine.for %l = 0 to 8 {
              %a = affine.load %A[%i * 16 + %m, %k * 8 + %l] : memref<32x32xf32>
              %c = affine.load %C[%k * 8 + %l, %j * 16 + %n] : memref<32x32xf32>
              %q = affine.load %Q[%i * 16 + %m, %j * 16 + %n] : memref<32x32xf32>
              %t = arith.mulf %a, %c : f32
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
