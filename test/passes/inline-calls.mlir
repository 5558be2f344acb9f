// inline-calls: one function is left of several, with what it calls in its body.
// RUN: mlir-gemm opt %s inline-calls | FileCheck %s
// RUN: mlir-gemm opt %s inline-calls inline-calls | FileCheck %s
// RUN: mlir-gemm opt %s 'inline-calls{entry=twice}' | FileCheck %s --check-prefix=TWICE

// CHECK-NOT: @declared
// CHECK-NOT: module @inner
// CHECK-NOT: @twice
//     CHECK: func.func @main(
// CHECK-NOT:   call
// CHECK-COUNT-2: linalg.tanh
//     CHECK:   return
// CHECK-NOT: @twice

// TWICE-NOT: @main
//     TWICE: func.func @twice(
// TWICE-COUNT-1: linalg.tanh
//     TWICE:   return
func.func private @declared(tensor<4xf32>)
module @inner {
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.tanh ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
