// turn-views: a dimension with a stride below 0 is counted down, in memory that is walked forwards.
// RUN: mlir-gemm opt %s turn-views | FileCheck %s
// RUN: mlir-gemm opt %s turn-views turn-views | FileCheck %s

// CHECK-LABEL: func.func @read(
//  CHECK-SAME:   %[[A:.*]]: memref<4x64x256xf16, strided<[64, 448, 1]>>
//       CHECK:   affine.load %[[A]][-%{{.*}} + 3, %{{.*}}, 0]
func.func @read(%A: memref<4x64x256xf16, strided<[-64, 448, 1], offset: 192>>, %D: memref<4x64xf16>) {
  affine.for %q = 0 to 4 {
    affine.for %s = 0 to 64 {
      %0 = affine.load %A[%q, %s, 0] : memref<4x64x256xf16, strided<[-64, 448, 1], offset: 192>>
      affine.store %0, %D[%q, %s] : memref<4x64xf16>
    }
  }
  return
}

// CHECK-LABEL: func.func @forwards(
//  CHECK-SAME:   memref<4x64xf16, strided<[64, 448]>>
func.func @forwards(%A: memref<4x64xf16, strided<[64, 448]>>) {
  return
}
