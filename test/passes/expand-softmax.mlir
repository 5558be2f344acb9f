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

// Numbers of 16 bits: all but the maximum is computed in f32, and rounded once.
// CHECK-LABEL: func.func @narrow(
//       CHECK:   arith.maximumf {{.*}} : f16
//       CHECK:   arith.subf {{.*}} : f32
//       CHECK:   math.exp {{.*}} : f32
//   CHECK-NOT:   arith.truncf
//       CHECK:   arith.addf {{.*}} : f32
//       CHECK:   arith.divf {{.*}} : f32
//       CHECK:   arith.truncf {{.*}} : f32 to f16
func.func @narrow(%x: tensor<4x33xf16>, %y: tensor<4x33xf16>) -> tensor<4x33xf16> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x33xf16>) outs(%y : tensor<4x33xf16>) -> tensor<4x33xf16>
  return %0 : tensor<4x33xf16>
}
