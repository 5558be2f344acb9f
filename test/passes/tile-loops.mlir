// tile-loops: nests become block loops (and a k loop) around whole point nests; a second run changes nothing.
// RUN: mlir-gemm opt %s 'tile-loops{block=16,8,4}' | FileCheck %s
// RUN: mlir-gemm opt %s 'tile-loops{block=16,8,4}' tile-loops | FileCheck %s

// CHECK-LABEL: func.func @product(
//       CHECK:   affine.for %[[I:.*]] = 0 to 2 {
//  CHECK-NEXT:     affine.for %[[J:.*]] = 0 to 6 {
//  CHECK-NEXT:       affine.for %[[L:.*]] = 0 to 4 {
//  CHECK-NEXT:         affine.for %[[M:.*]] = 0 to 16 {
//  CHECK-NEXT:           affine.for %[[N:.*]] = 0 to 8 {
//  CHECK-NEXT:             affine.for %[[K:.*]] = 0 to 4 {
//       CHECK:               affine.load %{{.*}}[%[[I]] * 16 + %[[M]], %[[L]] * 4 + %[[K]]] : memref<32x16xf16>
//       CHECK:               affine.load %{{.*}}[%[[L]] * 4 + %[[K]], %[[J]] * 8 + %[[N]]] : memref<16x48xf16>
//       CHECK:               affine.load %{{.*}}[%[[I]] * 16 + %[[M]], %[[J]] * 8 + %[[N]]] : memref<32x48xf32>
//       CHECK:               affine.store %{{.*}}, %{{.*}}[%[[I]] * 16 + %[[M]], %[[J]] * 8 + %[[N]]] : memref<32x48xf32>
//  CHECK-NEXT:             } {tile.loop = "point"}
//  CHECK-NEXT:           } {tile.loop = "point"}
//  CHECK-NEXT:         } {tile.loop = "point"}
//  CHECK-NEXT:       } {tile.loop = "k"}
//  CHECK-NEXT:     } {tile.loop = "block"}
//  CHECK-NEXT:   } {tile.loop = "block"}
func.func @product(%A: memref<32x16xf16>, %B: memref<16x48xf16>, %C: memref<32x48xf32>) {
  affine.for %m = 0 to 32 {
    affine.for %n = 0 to 48 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%m, %k] : memref<32x16xf16>
        %b = affine.load %B[%k, %n] : memref<16x48xf16>
        %c = affine.load %C[%m, %n] : memref<32x48xf32>
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%m, %n] : memref<32x48xf32>
      }
    }
  }
  return
}

// Tiles that do not divide the sizes: the bounds are rounded up, and the point nest stays whole.
// CHECK-LABEL: func.func @ragged(
//       CHECK:   affine.for %[[I:.*]] = 0 to 2 {
//  CHECK-NEXT:     affine.for %[[J:.*]] = 0 to 5 {
//  CHECK-NEXT:       affine.for %[[M:.*]] = 0 to 16 {
//  CHECK-NEXT:         affine.for %[[N:.*]] = 0 to 8 {
//  CHECK-NEXT:           affine.load %{{.*}}[%[[I]] * 16 + %[[M]], %[[J]] * 8 + %[[N]]] : memref<20x33xf32>
func.func @ragged(%A: memref<20x33xf32>, %B: memref<20x33xf32>) {
  affine.for %m = 0 to 20 {
    affine.for %n = 0 to 33 {
      %a = affine.load %A[%m, %n] : memref<20x33xf32>
      affine.store %a, %B[%m, %n] : memref<20x33xf32>
    }
  }
  return
}

// Offsets and scalars from outside stay as they are.
// CHECK-LABEL: func.func @shifted(
//       CHECK:   affine.load %{{.*}}[%{{.*}} * 16 + %{{.*}} + 1, %{{.*}} * 16 + %{{.*}} * 2 + 3] : memref<64x64xf32>
func.func @shifted(%A: memref<64x64xf32>, %B: memref<32x16xf32>, %x: f32) {
  affine.for %m = 0 to 32 {
    affine.for %n = 0 to 16 {
      %a = affine.load %A[%m + 1, %n * 2 + 3] : memref<64x64xf32>
      %s = arith.addf %a, %x : f32
      affine.store %s, %B[%m, %n] : memref<32x16xf32>
    }
  }
  return
}

// CHECK: func.func private @declaration()
func.func private @declaration()

// Leading loops are batches, one at a time.
// CHECK-LABEL: func.func @batches(
//       CHECK:   affine.for %[[H:.*]] = 0 to 3 {
//  CHECK-NEXT:     affine.for %[[I:.*]] = 0 to 2 {
//  CHECK-NEXT:       affine.for %[[J:.*]] = 0 to 6 {
//  CHECK-NEXT:         affine.for %[[L:.*]] = 0 to 16 {
//  CHECK-NEXT:           affine.for %[[M:.*]] = 0 to 16 {
//  CHECK-NEXT:             affine.for %[[N:.*]] = 0 to 8 {
//  CHECK-NEXT:               affine.for %[[K:.*]] = 0 to 4 {
//  CHECK-NEXT:                 affine.load %{{.*}}[%[[H]], %[[I]] * 16 + %[[M]], %[[L]] * 4 + %[[K]]]
//       CHECK:         } {tile.loop = "k"}
//  CHECK-NEXT:       } {tile.loop = "block"}
//  CHECK-NEXT:     } {tile.loop = "block"}
//  CHECK-NEXT:   } {tile.loop = "block"}
//  CHECK-NEXT:   affine.for %[[H1:.*]] = 0 to 3 {
//  CHECK-NEXT:     affine.for %{{.*}} = 0 to 2 {
//  CHECK-NEXT:       affine.for %[[J1:.*]] = 0 to 6 {
//  CHECK-NEXT:         affine.for %{{.*}} = 0 to 16 {
//  CHECK-NEXT:           affine.for %[[N1:.*]] = 0 to 8 {
//  CHECK-NEXT:             affine.load %{{.*}}[%[[J1]] * 8 + %[[N1]]]
//       CHECK:   return
func.func @batches(%A: memref<3x32x64xf32>, %B: memref<3x64x48xf32>, %C: memref<3x32x48xf32>, %D: memref<48xf32>) {
  affine.for %h = 0 to 3 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 48 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%h, %m, %k] : memref<3x32x64xf32>
          %b = affine.load %B[%h, %k, %n] : memref<3x64x48xf32>
          %c = affine.load %C[%h, %m, %n] : memref<3x32x48xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%h, %m, %n] : memref<3x32x48xf32>
        }
      }
    }
  }
  affine.for %h = 0 to 3 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 48 {
        %d = affine.load %D[%n] : memref<48xf32>
        affine.store %d, %C[%h, %m, %n] : memref<3x32x48xf32>
      }
    }
  }
  return
}

// Sizes known at run time only: the numbers of tiles are computed in front of all loops, once for each size and tile.
// CHECK: func.func @dynamic(%[[A:[a-z0-9]+]]: memref<?x48xf32>
// CHECK: %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[MORE:.*]] = arith.addi %[[M]], %c15
// CHECK: %[[TILES:.*]] = arith.divui %[[MORE]], %c16
// CHECK: affine.for %[[I:.*]] = 0 to %[[TILES]] {
// CHECK: affine.load %[[A]][%[[I]] * 16 + %{{.*}}, %{{.*}} * 8 + %{{.*}}]
// CHECK: } {tile.loop = "block"}
// CHECK: affine.for %{{.*}} = 0 to %[[TILES]] {
func.func @dynamic(%A: memref<?x48xf32> {tile.symbols = ["s0", ""]}, %B: memref<?x48xf32> {tile.symbols = ["s0", ""]}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %A, %c0 : memref<?x48xf32>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to 48 {
      %a = affine.load %A[%i, %j] : memref<?x48xf32>
      affine.store %a, %B[%i, %j] : memref<?x48xf32>
    }
  }
  affine.for %i = 0 to %m {
    affine.for %j = 0 to 48 {
      %b = affine.load %B[%i, %j] : memref<?x48xf32>
      affine.store %b, %A[%i, %j] : memref<?x48xf32>
    }
  }
  return
}
