// What upstream's passes leave is refused by check-module, with its place.
// RUN: not mlir-gemm opt %s lower-tosa check-module 2>&1 | FileCheck %s

// CHECK: lower-tosa-refuses.mlir:[[# @LINE + 2]]:{{.*}}: error: 'index.mul' in the body of 'linalg.generic'; expected arith and math operations
func.func @transform(%a: tensor<1x4x4xf32>, %b: tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>) {
  %0, %1 = tosa.fft2d %a, %b {inverse = false, local_bound = false} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>)
  return %0, %1 : tensor<1x4x4xf32>, tensor<1x4x4xf32>
}
