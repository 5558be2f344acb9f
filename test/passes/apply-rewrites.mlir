// apply-rewrites: rules that are registered rewrite a source; without any it stays as it is.
// RUN: mlir-gemm opt %s apply-rewrites | FileCheck %s --check-prefix=NONE
// RUN: %python %s.py %s | FileCheck %s

// CHECK-LABEL: func.func @f(
//  CHECK-SAME:   %[[X:.*]]: tensor<4xf32>
//  CHECK-NEXT:   return %[[X]]
// NONE-LABEL: func.func @f(
//       NONE:   linalg.exp
//       NONE:   linalg.log
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.log ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
