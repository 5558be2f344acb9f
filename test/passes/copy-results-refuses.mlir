// copy-results leaves alone what is computed for its return or has no value, and functions that return nothing.
// RUN: mlir-gemm opt %s copy-results | FileCheck %s
// RUN: not mlir-gemm opt %s 'copy-results{all=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'copy-results' has no option 'all' (options: none)

// CHECK-LABEL: func.func @nothing(
//   CHECK-NOT:   linalg.generic
func.func @nothing(%A: memref<4x6xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%A : memref<4x6xf32>)
  return
}

// CHECK-LABEL: func.func @no_value(
//   CHECK-NOT:   linalg.generic
func.func @no_value() -> tensor<0x6xf32> {
  %e = tensor.empty() : tensor<0x6xf32>
  return %e : tensor<0x6xf32>
}

// CHECK: func.func private @declaration(tensor<4xf32>) -> tensor<4xf32>
func.func private @declaration(tensor<4xf32>) -> tensor<4xf32>
