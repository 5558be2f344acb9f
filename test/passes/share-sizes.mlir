// share-sizes makes one value of each dynamic size of a kernel.
// RUN: mlir-gemm opt %s share-sizes | FileCheck %s
// RUN: mlir-gemm opt %s share-sizes share-sizes | FileCheck %s

// CHECK: func.func @kernel(%{{.*}}, %[[C:.*]]: memref<?x?xf32> {{.*}}, %{{.*}}: f32)
// CHECK: %[[S0:.*]] = memref.dim %[[C]], %c0
// CHECK: %[[S1:.*]] = memref.dim %[[C]], %c1
// CHECK-NOT: memref.dim
// CHECK: memref.alloc(%[[S0]], %[[S1]])
// CHECK: affine.for %{{.*}} = 0 to %[[S0]] {
// CHECK: affine.for %{{.*}} = 0 to %[[S1]] {
// CHECK: affine.for %{{.*}} = 0 to %[[S0]] {
func.func @kernel(%A: memref<?x24xf16> {tile.symbols = ["s0", ""]}, %B: memref<24x?xf16> {tile.symbols = ["", "s1"]},
                  %C: memref<?x?xf32> {tile.symbols = ["s0", "s1"]}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %C, %c0 : memref<?x?xf32>
  %n = memref.dim %C, %c1 : memref<?x?xf32>
  %t = memref.alloc(%m, %n) : memref<?x?xf32>
  %rows = memref.dim %t, %c0 : memref<?x?xf32>
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %n {
      affine.store %x, %t[%i, %j] : memref<?x?xf32>
    }
  }
  %again = memref.dim %A, %c0 : memref<?x24xf16>
  affine.for %i = 0 to %again {
    affine.store %x, %C[%i, 0] : memref<?x?xf32>
  }
  return
}

// CHECK: func.func @constant(
// CHECK-NEXT: return
func.func @constant(%A: memref<16x24xf16>) {
  return
}
