// copy-operands needs to know how operands lie, leaves products on memrefs alone, and has no options.
// RUN: not mlir-gemm opt --split-input-file %s copy-operands 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'copy-operands{k=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'copy-operands' has no option 'k' (options: none)

// CHECK: error: memref<4x6xf32, strided<[?, 1]>> has a dynamic stride or offset; they must be static
func.func @strides(%A: memref<4x6xf32, strided<[?, 1]>>) -> tensor<24xf32> {
  %t = bufferization.to_tensor %A restrict writable : memref<4x6xf32, strided<[?, 1]>> to tensor<4x6xf32>
  %v = tensor.collapse_shape %t [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %v : tensor<24xf32>
}

// -----

// CHECK: error: tensor.extract_slice with dynamic offsets, sizes or strides; they must be static
func.func @slice(%A: tensor<4x6xf32>, %i: index) -> tensor<24xf32> {
  %v = tensor.extract_slice %A[%i, 0] [4, 6] [1, 1] : tensor<4x6xf32> to tensor<4x6xf32>
  %w = tensor.collapse_shape %v [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %w : tensor<24xf32>
}

// -----

// CHECK-LABEL: func.func @memory(
//  CHECK-NEXT:   linalg.matmul
func.func @memory(%A: memref<4x6xf32>, %B: memref<6x5xf32>, %C: memref<4x5xf32>) {
  linalg.matmul ins(%A, %B : memref<4x6xf32>, memref<6x5xf32>) outs(%C : memref<4x5xf32>)
  return
}
