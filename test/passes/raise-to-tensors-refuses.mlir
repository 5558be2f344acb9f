// raise-to-tensors refuses memory that is read before it is written, operations on both kinds, and what it does not know.
// RUN: sed '/^func.func @unwritten(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'func.func(linalg-generalize-named-ops)' raise-to-tensors 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: sed '/^func.func @named(/,/^}/!s/.*//' %s | not mlir-gemm opt - raise-to-tensors 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'func.func(linalg-generalize-named-ops)' raise-to-tensors 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: sed -e '/^func.func @constant(/,/^}/!{/memref.global/!s/.*//' -e '}' %s | not mlir-gemm opt - 'func.func(linalg-generalize-named-ops)' raise-to-tensors 2>&1 | FileCheck %s --check-prefix=CONSTANT

memref.global "private" constant @weights : memref<4xf32> = dense<2.0>

func.func @unwritten(%A: memref<4x8xf32>, %B: memref<8x6xf32>, %D: memref<4x6xf32>) {
  %t = memref.alloc() : memref<4x6xf32>
  // UNWRITTEN: -:[[# @LINE + 1]]:3: error: 'linalg.generic' reads a memref.alloc before anything is written to it; fill it first
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x6xf32>) outs(%t : memref<4x6xf32>)
  memref.copy %t, %D : memref<4x6xf32> to memref<4x6xf32>
  return
}

func.func @named(%A: memref<4x8xf32>, %B: memref<8x6xf32>, %D: memref<4x6xf32>) {
  // NAMED: -:[[# @LINE + 1]]:3: error: 'linalg.matmul' on memrefs is not understood; expected linalg.generic, copies and views
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x6xf32>) outs(%D : memref<4x6xf32>)
  return
}

func.func @computed(%A: memref<8xf32>, %D: memref<4xf32>, %i: index) {
  // COMPUTED: -:[[# @LINE + 1]]:8: error: 'memref.subview' at offsets that are computed; they must be constants
  %s = memref.subview %A[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.copy %s, %D : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
  return
}

func.func @constant(%A: memref<4xf32>) {
  %w = memref.get_global @weights : memref<4xf32>
  // CONSTANT: -:[[# @LINE + 1]]:3: error: 'memref.copy' writes to a constant memref.global
  memref.copy %A, %w : memref<4xf32> to memref<4xf32>
  return
}
