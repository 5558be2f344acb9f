// What keep-reference refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s keep-reference 2>&1 | FileCheck %s

// CHECK: error: a kernel's module holds 2 functions with a body; expected one
func.func @f(%A: memref<4xf32>) {
  return
}
func.func @g(%A: memref<4xf32>) {
  return
}

// -----

// CHECK: error: a kernel's module holds 0 functions with a body; expected one
func.func private @h(memref<4xf32>)
