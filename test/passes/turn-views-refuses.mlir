// turn-views: only affine.load reads memory that is walked backwards.
// RUN: not mlir-gemm opt %s turn-views 2>&1 | FileCheck %s

// CHECK: error: memref<4xf16, strided<[-1], offset: 3>> is walked backwards; expected affine.load to read it, and nothing else
func.func @store(%A: memref<4xf16, strided<[-1], offset: 3>>, %v: f16) {
  affine.store %v, %A[0] : memref<4xf16, strided<[-1], offset: 3>>
  return
}
