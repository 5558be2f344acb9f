// lower-tosa: upstream's passes make linalg of tosa.
// RUN: mlir-gemm opt %s lower-tosa | FileCheck %s
// RUN: mlir-gemm opt %s lower-tosa lower-tosa | FileCheck %s

// CHECK-LABEL: func.func @layer(
//   CHECK-NOT:   tosa
//       CHECK:   linalg.batch_matmul
//       CHECK:   arith.addf
//       CHECK:   math.tanh
//       CHECK:   return
func.func @layer(%a: tensor<1x9x13xf32>, %b: tensor<1x13x8xf32>, %c: tensor<1x1x8xf32>) -> tensor<1x9x8xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x9x13xf32>, tensor<1x13x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x9x8xf32>
  %1 = tosa.add %0, %c : (tensor<1x9x8xf32>, tensor<1x1x8xf32>) -> tensor<1x9x8xf32>
  %2 = tosa.tanh %1 : (tensor<1x9x8xf32>) -> tensor<1x9x8xf32>
  return %2 : tensor<1x9x8xf32>
}

// What a quantised layer ends with: the scale is arithmetic on integers.
// CHECK-LABEL: func.func @rescale(
//   CHECK-NOT:   tosa
//       CHECK:   linalg.generic
//       CHECK:   arith.shrsi
func.func @rescale(%a: tensor<6x8xi32>) -> tensor<6x8xi8> {
  %m = "tosa.const"() {values = dense<1431655765> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<38> : tensor<1xi8>} : () -> tensor<1xi8>
  %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %zo = "tosa.const"() {values = dense<-5> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %a, %m, %s, %zi, %zo {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<6x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<6x8xi8>
  return %r : tensor<6x8xi8>
}
