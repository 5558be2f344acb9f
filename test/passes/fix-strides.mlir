// fix-strides: strides and offsets that are open become those of dense memory, or those that are given.
// RUN: mlir-gemm opt %s fix-strides | FileCheck %s --check-prefixes=ALL,DENSE
// RUN: mlir-gemm opt %s 'fix-strides{strides=0:48,1;1:2,64}' | FileCheck %s --check-prefixes=ALL,GIVEN

// Views follow; what the source fixes stays.
// ALL-LABEL: func.func @product(
// DENSE-SAME:   %[[A:.*]]: memref<20x32xf16> {tile.open_strides}, %[[B:.*]]: memref<16x24xf16> {tile.open_strides}, %[[C:.*]]: memref<20x24xf32, strided<[64, 1]>> {tile.open_strides}
// GIVEN-SAME:   %[[A:.*]]: memref<20x32xf16, strided<[48, 1]>> {tile.open_strides}, %[[B:.*]]: memref<16x24xf16, strided<[2, 64]>> {tile.open_strides}, %[[C:.*]]: memref<20x24xf32, strided<[64, 1]>> {tile.open_strides}
//     DENSE:   memref.subview %[[A]][0, 16] [20, 16] [1, 1] : memref<20x32xf16> to memref<20x16xf16, strided<[32, 1], offset: 16>>
//     GIVEN:   memref.subview %[[A]][0, 16] [20, 16] [1, 1] : memref<20x32xf16, strided<[48, 1]>> to memref<20x16xf16, strided<[48, 1], offset: 16>>
func.func @product(%A: memref<20x32xf16, strided<[?, 1], offset: ?>>, %B: memref<16x24xf16, strided<[?, ?]>>, %C: memref<20x24xf32, strided<[64, 1], offset: ?>>) {
  %a = memref.subview %A[0, 16] [20, 16] [1, 1] : memref<20x32xf16, strided<[?, 1], offset: ?>> to memref<20x16xf16, strided<[?, 1], offset: ?>>
  linalg.matmul ins(%a, %B : memref<20x16xf16, strided<[?, 1], offset: ?>>, memref<16x24xf16, strided<[?, ?]>>)
                outs(%C : memref<20x24xf32, strided<[64, 1], offset: ?>>)
  return
}

// Beside open sizes memory is dense.
// ALL-LABEL: func.func @open(
//  ALL-SAME:   %{{.*}}: index, %{{.*}}: memref<?x8xf32> {tile.open_strides}
func.func @open(%n: index, %m: index, %A: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  linalg.exp ins(%A : memref<?x8xf32, strided<[?, 1], offset: ?>>) outs(%A : memref<?x8xf32, strided<[?, 1], offset: ?>>)
  return
}

// ALL-LABEL: func.func @closed(
//  ALL-SAME:   %{{.*}}: memref<8xf32, strided<[2]>>)
func.func @closed(%A: memref<8xf32, strided<[2]>>) {
  linalg.exp ins(%A : memref<8xf32, strided<[2]>>) outs(%A : memref<8xf32, strided<[2]>>)
  return
}
