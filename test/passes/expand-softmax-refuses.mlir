// What expand-softmax refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s expand-softmax 2>&1 | FileCheck %s

// CHECK: expand-softmax-refuses.mlir:[[# @LINE + 2]]:3: error: 'linalg.softmax' on memrefs; expected tensors
func.func @memory(%x: memref<4x33xf32>, %y: memref<4x33xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<4x33xf32>) outs(%y : memref<4x33xf32>)
  return
}
