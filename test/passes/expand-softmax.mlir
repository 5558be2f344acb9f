// expand-softmax: a softmax becomes a maximum, exponentials, their sum and a division.
// RUN: mlir-gemm opt %s expand-softmax | FileCheck %s
// RUN: mlir-gemm opt %s expand-softmax expand-softmax | FileCheck %s

// CHECK-LABEL: func.func @rows(
//   CHECK-NOT:   linalg.softmax
//       CHECK:   arith.maximumf
//       CHECK:   math.exp
//       CHECK:   arith.addf
//       CHECK:   arith.divf
//   CHECK-NOT:   linalg.softmax
func.func @rows(%x: tensor<4x?x33xf32>, %y: tensor<4x?x33xf32>) -> tensor<4x?x33xf32> {
  %0 = linalg.softmax dimension(2) ins(%x : tensor<4x?x33xf32>) outs(%y : tensor<4x?x33xf32>) -> tensor<4x?x33xf32>
  return %0 : tensor<4x?x33xf32>
}
