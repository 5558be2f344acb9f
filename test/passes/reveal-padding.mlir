// reveal-padding: arguments with zeros beyond their ends are seen with these zeros; others stay as they are.
// RUN: mlir-gemm opt %s reveal-padding | FileCheck %s
// RUN: mlir-gemm opt %s reveal-padding reveal-padding | FileCheck %s

// CHECK-LABEL: func.func @f(
//  CHECK-SAME:   %[[A:.*]]: memref<16x8xf16> {tile.role = "in"}, %[[B:.*]]: memref<9x7xf16> {tile.role = "out"}) {
//       CHECK:   affine.load %[[A]][%{{.*}}, %{{.*}}] : memref<16x8xf16>
func.func @f(%A: memref<9x7xf16, strided<[8, 1]>> {tile.padded = array<i64: 16, 8>, tile.role = "in"}, %B: memref<9x7xf16> {tile.role = "out"}) {
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 7 {
      %x = affine.load %A[%i, %j] : memref<9x7xf16, strided<[8, 1]>>
      affine.store %x, %B[%i, %j] : memref<9x7xf16>
    }
  }
  return
}
