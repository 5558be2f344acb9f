// tensorize: point nests become operations on whole tiles; a second run changes nothing.
// RUN: mlir-gemm opt %s tensorize --reading | FileCheck %s
// RUN: mlir-gemm opt %s tensorize tensorize --reading | FileCheck %s

// Staging buffers are taken whole. The sum may be written either way round.
// CHECK-LABEL: func.func @staged(
//  CHECK-NEXT:   affine.for %arg3 = 0 to 2 {  // block
//  CHECK-NEXT:     %[[AT:.*]] = %arg3 * 16
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg2[%[[AT]], 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg0[mk], %arg1[kn], %[[LOADED]] : 16x8xf32
//  CHECK-NEXT:     %[[AT2:.*]] = %arg3 * 16
//  CHECK-NEXT:     tile.store %[[SUM]] -> %arg2[%[[AT2]], 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:   }
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
//  CHECK-NEXT:   affine.for %arg3 = 0 to 2 {  // k
//  CHECK-NEXT:     %[[AT:.*]] = %arg3 * 16
//  CHECK-NEXT:     %[[VIEW:.*]] = %arg0[0, %[[AT]]] : 16x16xf16
//  CHECK-NEXT:     %[[AT2:.*]] = %arg3 * 16
//  CHECK-NEXT:     %[[VIEW2:.*]] = %arg1[%[[AT2]]] : 16x16xf16
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg2[0, 0] : 16x16xf32 {in_bounds}
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW]][mk], %[[VIEW2]][kn], %[[LOADED]] : 16x16xf32
//  CHECK-NEXT:     tile.store %[[SUM]] -> %arg2[0, 0] : 16x16xf32 {in_bounds}
//  CHECK-NEXT:   }
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

// Of a batch they are views of one matrix, at its index.
// CHECK-LABEL: func.func @batch(
//       CHECK:     affine.for %[[STEP:.*]] = 0 to 2 {  // k
//       CHECK:       %[[VIEW:.*]] = %arg0[%[[BATCH:.*]], {{.*}}] : 16x16xf16
//       CHECK:       tile.mma %[[VIEW]][km], %arg1[kn]
func.func @batch(%A: memref<3x32x16xf16>, %B: memref<16x16xf16, 3>, %C: memref<3x16x16xf32>) {
  affine.for %i = 0 to 3 {
    affine.for %l = 0 to 2 {
      affine.for %m = 0 to 16 {
        affine.for %n = 0 to 16 {
          affine.for %k = 0 to 16 {
            %a = affine.load %A[%i, %l * 16 + %k, %m] : memref<3x32x16xf16>
            %b = affine.load %B[%k, %n] : memref<16x16xf16, 3>
            %c = affine.load %C[%i, %m, %n] : memref<3x16x16xf32>
            %x = arith.extf %a : f16 to f32
            %y = arith.extf %b : f16 to f32
            %p = arith.mulf %x, %y : f32
            %s = arith.addf %c, %p : f32
            affine.store %s, %C[%i, %m, %n] : memref<3x16x16xf32>
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}

// Elementwise: constants become splats, other scalars from outside are broadcast, attributes stay.
// CHECK-LABEL: func.func @elementwise(
//  CHECK-NEXT:   %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<16x8xf32>
//  CHECK-NEXT:   %[[LOADED:.*]] = tile.load %arg0[0, 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:   %[[SPREAD:.*]] = vector.broadcast %arg2 : f32 to vector<16x8xf32>
//  CHECK-NEXT:   %[[V2:.*]] = arith.mulf %[[LOADED]], %[[SPREAD]] fastmath<contract> : vector<16x8xf32>
//  CHECK-NEXT:   %[[V3:.*]] = arith.maximumf %[[V2]], %[[V]] : vector<16x8xf32>
//  CHECK-NEXT:   %[[ROUNDED:.*]] = arith.truncf %[[V3]] : vector<16x8xf32> to vector<16x8xf16>
//  CHECK-NEXT:   tile.store %[[ROUNDED]] -> %arg1[16, 0] : 16x8xf16 {in_bounds}
//  CHECK-NEXT:   %[[SPREAD2:.*]] = vector.broadcast %arg2 : f32 to vector<16x8xf32>
//  CHECK-NEXT:   tile.store %[[SPREAD2]] -> %arg0[0, 0] : 16x8xf32 {in_bounds}
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
//  CHECK-NEXT:   affine.for %arg6 = 0 to 3 {  // block
//  CHECK-NEXT:     affine.for %arg7 = 0 to 2 {  // block
//  CHECK-NEXT:       %[[AT:.*]] = %arg7 * 32
//  CHECK-NEXT:       %[[LOADED:.*]] = tile.load %arg2[%arg6, %[[AT]], 0] : 32x8xf32 {in_bounds}
//  CHECK-NEXT:       %[[SUM:.*]] = tile.mma %arg0[km], %arg1[nk], %[[LOADED]] : 32x8xf32
//  CHECK-NEXT:       %[[AT2:.*]] = %arg7 * 32
//  CHECK-NEXT:       tile.store %[[SUM]] -> %arg2[%arg6, %[[AT2]], 0] : 32x8xf32 {in_bounds}
//  CHECK-NEXT:       %[[AT3:.*]] = %arg7 * 32
//  CHECK-NEXT:       %[[LOADED2:.*]] = tile.load %arg2[%arg6, %[[AT3]], 0] : 32x8xf32 {in_bounds}
//  CHECK-NEXT:       %[[AT4:.*]] = %arg7 * 32
//  CHECK-NEXT:       %[[LOADED3:.*]] = tile.load %arg3[%[[AT4]]] : 32x8xf32 {dims = [0], in_bounds}
//  CHECK-NEXT:       %[[LOADED4:.*]] = tile.load %arg4[0] : 32x8xf32 {in_bounds}
//  CHECK-NEXT:       %[[AT5:.*]] = %arg7 * 32
//  CHECK-NEXT:       %[[LOADED5:.*]] = tile.load %arg5[0, %[[AT5]]] : 32x8xf32 {dims = [1, 0], in_bounds = [true, false]}
//  CHECK-NEXT:       %[[V:.*]] = arith.addf %[[LOADED2]], %[[LOADED3]] : vector<32x8xf32>
//  CHECK-NEXT:       %[[V2:.*]] = arith.addf %[[V]], %[[LOADED4]] : vector<32x8xf32>
//  CHECK-NEXT:       %[[V3:.*]] = arith.addf %[[V2]], %[[LOADED5]] : vector<32x8xf32>
//  CHECK-NEXT:       %[[AT6:.*]] = %arg7 * 32
//  CHECK-NEXT:       tile.store %[[V3]] -> %arg2[%arg6, %[[AT6]], 0] : 32x8xf32 {in_bounds}
//  CHECK-NEXT:     }
//  CHECK-NEXT:   }
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
// CHECK-LABEL: func.func @algebras(
//  CHECK-NEXT:   %[[LOADED:.*]] = tile.load %arg2[0, 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:   %[[SUM:.*]] = tile.mma %arg0[mk], %arg1[kn], %[[LOADED]] : 16x8xf32 {algebra = arith.minimumf(c, arith.addf(a, b))}
//  CHECK-NEXT:   tile.store %[[SUM]] -> %arg2[0, 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:   %[[LOADED2:.*]] = tile.load %arg3[0, 0] : 16x8xf32 {in_bounds}
//  CHECK-NEXT:   %[[SUM2:.*]] = tile.mma %arg0[mk], %arg1[kn], %[[LOADED2]] : 16x8xf32 {algebra = arith.addf(c, math.absf(arith.subf(b, a)))}
//  CHECK-NEXT:   tile.store %[[SUM2]] -> %arg3[0, 0] : 16x8xf32 {in_bounds}
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
