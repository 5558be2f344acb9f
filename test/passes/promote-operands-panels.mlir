// promote-operands{layout=swizzle128}: each buffer has the widest panels that divide its rows.
// RUN: mlir-gemm opt %s 'promote-operands{layout=swizzle128}' | FileCheck %s
// RUN: mlir-gemm opt %s 'promote-operands{layout=swizzle128}' 'promote-operands{layout=swizzle128}' | FileCheck %s

// K along the rows of both: 128 bytes.
// CHECK-LABEL: func.func @along_k(
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<24x64xf16, 3>
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @along_k(%A: memref<64x128xf16>, %B: memref<24x128xf16>, %C: memref<64x24xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 64 {
      affine.for %n = 0 to 24 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%m, %l * 64 + %k] : memref<64x128xf16>
          %b = affine.load %B[%n, %l * 64 + %k] : memref<24x128xf16>
          %c = affine.load %C[%m, %n] : memref<64x24xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<64x24xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

// N along the rows of B: 192 bytes of 96 columns are three panels of 64 bytes, 384 bytes of 192 columns three of 128.
// CHECK-LABEL: func.func @three(
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
//       CHECK:   memref.alloc() {tile.layout = "swizzle64"} : memref<64x96xf16, 3>
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @three(%A: memref<64x128xf16>, %B: memref<128x96xf16>, %C: memref<64x96xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 64 {
      affine.for %n = 0 to 96 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%m, %l * 64 + %k] : memref<64x128xf16>
          %b = affine.load %B[%l * 64 + %k, %n] : memref<128x96xf16>
          %c = affine.load %C[%m, %n] : memref<64x96xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<64x96xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

// CHECK-LABEL: func.func @wide(
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<64x192xf16, 3>
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @wide(%A: memref<64x128xf16>, %B: memref<128x192xf16>, %C: memref<64x192xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 64 {
      affine.for %n = 0 to 192 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%m, %l * 64 + %k] : memref<64x128xf16>
          %b = affine.load %B[%l * 64 + %k, %n] : memref<128x192xf16>
          %c = affine.load %C[%m, %n] : memref<64x192xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<64x192xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

// M along the rows of A; 16 columns of B, 32 bytes.
// CHECK-LABEL: func.func @narrow(
//       CHECK:   memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
//       CHECK:   memref.alloc() {tile.layout = "swizzle32"} : memref<64x16xf16, 3>
//   CHECK-NOT:   memref.alloc
//       CHECK:   return
func.func @narrow(%A: memref<128x64xf16>, %B: memref<128x16xf16>, %C: memref<64x16xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 64 {
      affine.for %n = 0 to 16 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%l * 64 + %k, %m] : memref<128x64xf16>
          %b = affine.load %B[%l * 64 + %k, %n] : memref<128x16xf16>
          %c = affine.load %C[%m, %n] : memref<64x16xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<64x16xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}
