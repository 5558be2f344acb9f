// tensorize: point nests become operations on whole tiles; a second run changes nothing.
// RUN: mlir-gemm opt %s tensorize | FileCheck %s
// RUN: mlir-gemm opt %s tensorize tensorize | FileCheck %s

// Staging buffers are taken whole. The sum may be written either way round.
// CHECK-LABEL: func.func @staged(
//  CHECK-SAME: %[[SA:.*]]: memref<16x32xf16, 3>, %[[SB:.*]]: memref<32x8xf16, 3>, %[[C:.*]]: memref<32x48xf32>
//       CHECK:   affine.for %[[I:.*]] = 0 to 2 {
//       CHECK:     %[[M:.*]] = affine.apply #[[BY16:.*]](%[[I]])
//       CHECK:     %[[ACC:.*]] = "tile.load"(%[[C]], %[[M]], %{{.*}}) {{.*}} -> vector<16x8xf32>
//  CHECK-NEXT:     %[[SUM:.*]] = "tile.mma"(%[[SA]], %[[SB]], %[[ACC]]) {a = "mk", b = "kn"}
//       CHECK:     "tile.store"(%[[SUM]], %[[C]], %{{.*}}, %{{.*}})
//   CHECK-NOT:   affine.load
//       CHECK:   return
func.func @staged(%A: memref<16x32xf16, 3>, %B: memref<32x8xf16, 3>, %C: memref<32x48xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %m = 0 to 16 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 32 {
          %a = affine.load %A[%m, %k] : memref<16x32xf16, 3>
          %b = affine.load %B[%k, %n] : memref<32x8xf16, 3>
          %c = affine.load %C[%i * 16 + %m, %n] : memref<32x48xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %p, %c : f32
          affine.store %s, %C[%i * 16 + %m, %n] : memref<32x48xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "block"}
  return
}

// Operands in global memory become views of their tiles.
// CHECK-LABEL: func.func @unstaged(
//       CHECK:   %[[VA:.*]] = memref.subview %arg0[%{{.*}}, %{{.*}}] [16, 16] [1, 1] : memref<32x32xf16> to
//       CHECK:   %[[VB:.*]] = memref.subview %arg1[%{{.*}}, %{{.*}}] [16, 16] [1, 1] : memref<32x48xf16> to
//       CHECK:   "tile.mma"(%[[VA]], %[[VB]], %{{.*}}) {a = "mk", b = "kn"}
func.func @unstaged(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<16x16xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 16 {
      affine.for %n = 0 to 16 {
        affine.for %k = 0 to 16 {
          %a = affine.load %A[%m, %l * 16 + %k] : memref<32x32xf16>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x48xf16>
          %c = affine.load %C[%m, %n] : memref<16x16xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<16x16xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

// Elementwise: constants become splats, other scalars from outside are broadcast, attributes stay.
// CHECK-LABEL: func.func @elementwise(
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16x8xf32>
//       CHECK:   %[[A:.*]] = "tile.load"(%arg0, {{.*}}) {{.*}} -> vector<16x8xf32>
//       CHECK:   %[[X:.*]] = vector.broadcast %arg2 : f32 to vector<16x8xf32>
//  CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[A]], %[[X]] fastmath<contract> : vector<16x8xf32>
//       CHECK:   %[[R:.*]] = arith.maximumf %[[P]], %[[ZERO]] : vector<16x8xf32>
//       CHECK:   %[[H:.*]] = arith.truncf %[[R]] : vector<16x8xf32> to vector<16x8xf16>
//       CHECK:   "tile.store"(%[[H]], %arg1, {{.*}})
//       CHECK:   %[[V:.*]] = vector.broadcast %arg2
//       CHECK:   "tile.store"(%[[V]], %arg0, {{.*}})
func.func @elementwise(%A: memref<32x48xf32>, %B: memref<32x48xf16>, %x: f32) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 8 {
      %zero = arith.constant 0.0 : f32
      %a = affine.load %A[%m, %n] : memref<32x48xf32>
      %p = arith.mulf %a, %x fastmath<contract> : f32
      %r = arith.maximumf %p, %zero : f32
      %h = arith.truncf %r : f32 to f16
      affine.store %h, %B[%m + 16, %n] : memref<32x48xf16>
      affine.store %x, %A[%m, %n] : memref<32x48xf32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}
