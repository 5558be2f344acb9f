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

// Places: one batch of A, stored [K, M]; a bias along each side; a transposed matrix.
// CHECK-LABEL: func.func @places(
//  CHECK-SAME: %[[A:.*]]: memref<16x32xf16, 3>, %[[B:.*]]: memref<8x16xf16, 3>, %[[C:.*]]: memref<3x64x8xf32>
//       CHECK:   %[[T:.*]] = "tile.load"(%[[C]], %[[H:.*]], %{{.*}}, %{{.*}}) {in_bounds = array<i1: true, true, true>, {{.*}}} : {{.*}} -> vector<32x8xf32>
//       CHECK:   %[[D:.*]] = "tile.mma"(%[[A]], %[[B]], %[[T]]) {a = "km", b = "nk"}
//       CHECK:   "tile.store"(%[[D]], %[[C]], %[[H]],
//       CHECK:   "tile.load"({{.*}}) {dims = array<i64: 0>, in_bounds = array<i1: true>, {{.*}}} : (memref<64xf32>, index) -> vector<32x8xf32>
//       CHECK:   "tile.load"({{.*}}) {in_bounds = array<i1: true>, {{.*}}} : (memref<8xf32>, index) -> vector<32x8xf32>
//       CHECK:   "tile.load"({{.*}}) {dims = array<i64: 1, 0>, in_bounds = array<i1: true, false>, {{.*}}} : (memref<8x60xf32>, index, index) -> vector<32x8xf32>
//       CHECK:   return
func.func @places(%A: memref<16x32xf16, 3>, %B: memref<8x16xf16, 3>, %C: memref<3x64x8xf32>, %rows: memref<64xf32>,
                  %columns: memref<8xf32>, %X: memref<8x60xf32>) {
  affine.for %h = 0 to 3 {
    affine.for %i = 0 to 2 {
      affine.for %m = 0 to 32 {
        affine.for %n = 0 to 8 {
          affine.for %k = 0 to 16 {
            %a = affine.load %A[%k, %m] : memref<16x32xf16, 3>
            %b = affine.load %B[%n, %k] : memref<8x16xf16, 3>
            %c = affine.load %C[%h, %i * 32 + %m, %n] : memref<3x64x8xf32>
            %x = arith.extf %a : f16 to f32
            %y = arith.extf %b : f16 to f32
            %p = arith.mulf %x, %y : f32
            %d = arith.addf %c, %p : f32
            affine.store %d, %C[%h, %i * 32 + %m, %n] : memref<3x64x8xf32>
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "point"}
      affine.for %m = 0 to 32 {
        affine.for %n = 0 to 8 {
          %c = affine.load %C[%h, %i * 32 + %m, %n] : memref<3x64x8xf32>
          %r = affine.load %rows[%i * 32 + %m] : memref<64xf32>
          %s = affine.load %columns[%n] : memref<8xf32>
          %t = affine.load %X[%n, %i * 32 + %m] : memref<8x60xf32>
          %u = arith.addf %c, %r : f32
          %v = arith.addf %u, %s : f32
          %w = arith.addf %v, %t : f32
          affine.store %w, %C[%h, %i * 32 + %m, %n] : memref<3x64x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// Other operations than addition and multiplication: an algebra, in which `a` is what moves with m, whatever the order.
// CHECK-LABEL: @algebras
//       CHECK:   "tile.mma"(%[[A:.*]], %[[B:.*]], %{{.*}}) {a = "mk", algebra = "arith.minimumf(c, arith.addf(a, b))", b = "kn"}
//       CHECK:   "tile.mma"(%[[A]], %[[B]], %{{.*}}) {a = "mk", algebra = "arith.addf(c, math.absf(arith.subf(b, a)))", b = "kn"}
func.func @algebras(%A: memref<16x16xf32, 3>, %B: memref<16x8xf32, 3>, %C: memref<16x8xf32>, %D: memref<16x8xf32>) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 8 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%m, %k] : memref<16x16xf32, 3>
        %b = affine.load %B[%k, %n] : memref<16x8xf32, 3>
        %c = affine.load %C[%m, %n] : memref<16x8xf32>
        %s = arith.addf %a, %b : f32
        %d = arith.minimumf %s, %c : f32
        affine.store %d, %C[%m, %n] : memref<16x8xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 8 {
      affine.for %k = 0 to 16 {
        %b = affine.load %B[%k, %n] : memref<16x8xf32, 3>
        %a = affine.load %A[%m, %k] : memref<16x16xf32, 3>
        %c = affine.load %D[%m, %n] : memref<16x8xf32>
        %s = arith.subf %b, %a : f32
        %t = math.absf %s : f32
        %d = arith.addf %c, %t : f32
        affine.store %d, %D[%m, %n] : memref<16x8xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}
