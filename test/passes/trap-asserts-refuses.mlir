// What trap-asserts refuses: nothing. It leaves functions alone that are no kernels.
// RUN: mlir-gemm opt %s trap-asserts | FileCheck %s

// CHECK-LABEL: func.func @host
// CHECK: cf.assert
func.func @host(%inside: i1) {
  cf.assert %inside, "sizes"
  return
}
