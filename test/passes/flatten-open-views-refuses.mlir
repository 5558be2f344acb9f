// It refuses nothing: any other cast of a size to 1 stays, and a call with another size is an error.
// RUN: mlir-gemm opt %s flatten-open-views | FileCheck %s

// CHECK: tensor.cast
func.func @kept(%x: tensor<?x?x24xf32>) -> tensor<?x1x24xf32> {
  %0 = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  return %0 : tensor<?x1x24xf32>
}
