// find-components: a mark on what no kernel lays out is no promise.
// RUN: not mlir-gemm opt %s find-components 2>&1 | FileCheck %s

// CHECK: argument 1 with 'tile.laid_out' is not what a kernel in front lays out of elements with components
func.func @product(%A: memref<64x128xf32>, %B: memref<128x32xf32> {tile.laid_out = "2 kn"}, %D: memref<64x32xf32>) {
  linalg.matmul ins(%A, %B : memref<64x128xf32>, memref<128x32xf32>) outs(%D : memref<64x32xf32>)
  return
}
