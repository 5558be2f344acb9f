// fuse-blocks: nests over the same block loops become one; a second run changes nothing.
// RUN: mlir-gemm opt %s fuse-blocks | FileCheck %s
// RUN: mlir-gemm opt %s fuse-blocks fuse-blocks | FileCheck %s

// The temporary is written, updated and read in the same tile, in order. The allocation between is in nobody's way.
// CHECK-LABEL: func.func @three(
//  CHECK-SAME: %[[A:.*]]: memref<32x48xf32>, %[[B:[^:]*]]: memref<32x48xf32>
//       CHECK:   %[[T:.*]] = memref.alloc
//       CHECK:   affine.for %[[I:.*]] = 0 to 2 {
//  CHECK-NEXT:     affine.for %[[J:.*]] = 0 to 3 {
//       CHECK:       affine.load %[[A]][%[[I]] * 16 + %{{.*}}, %[[J]] * 16 + %{{.*}}]
//  CHECK-NEXT:       affine.store %{{.*}}, %[[T]][%[[I]] * 16 + %{{.*}}, %[[J]] * 16 + %{{.*}}]
//       CHECK:       affine.for %{{.*}} = 0 to 4 {
//       CHECK:         affine.store %{{.*}}, %[[T]][%[[I]] * 16 + %{{.*}}, %[[J]] * 16 + %{{.*}}]
//       CHECK:       } {tile.loop = "k"}
//       CHECK:       affine.load %[[T]][%[[I]] * 16 + %{{.*}}, %[[J]] * 16 + %{{.*}}]
//  CHECK-NEXT:       affine.store %{{.*}}, %[[B]]
//       CHECK:     } {tile.loop = "block"}
//  CHECK-NEXT:   } {tile.loop = "block"}
//  CHECK-NEXT:   return
func.func @three(%A: memref<32x48xf32>, %B: memref<32x48xf32>) {
  %T = memref.alloc() : memref<32x48xf32>
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.for %m = 0 to 16 {
        affine.for %n = 0 to 16 {
          %a = affine.load %A[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
          affine.store %a, %T[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.for %k = 0 to 4 {
        affine.for %m = 0 to 16 {
          affine.for %n = 0 to 16 {
            %t = affine.load %T[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
            %u = arith.addf %t, %t : f32
            affine.store %u, %T[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
          } {tile.loop = "point"}
        } {tile.loop = "point"}
      } {tile.loop = "k"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  %unused = memref.alloc() : memref<32x48xf32>
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.for %m = 0 to 16 {
        affine.for %n = 0 to 16 {
          %t = affine.load %T[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
          affine.store %t, %B[%i * 16 + %m, %j * 16 + %n] : memref<32x48xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// Reading one buffer at different places is no dependence.
// CHECK-LABEL: func.func @both_read(
// CHECK-COUNT-2: {tile.loop = "block"}
//     CHECK-NOT: {tile.loop = "block"}
//         CHECK: return
func.func @both_read(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %C: memref<32x32xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      %a = affine.load %A[%i * 16, %j * 16] : memref<32x32xf32>
      affine.store %a, %B[%i * 16, %j * 16] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      %a = affine.load %A[%j * 16, %i * 16] : memref<32x32xf32>
      affine.store %a, %C[%i * 16, %j * 16] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}
