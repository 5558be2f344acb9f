// It refuses nothing: any other cast of a size to 1 stays, and a call with another size is an error.
// RUN: mlir-gemm opt %s flatten-open-views | FileCheck %s

// CHECK: tensor.cast
func.func @kept(%x: tensor<?x?x24xf32>) -> tensor<?x1x24xf32> {
  %0 = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  return %0 : tensor<?x1x24xf32>
}

// -----

// Sizes that do not lie beside each other are no view together.
// CHECK-LABEL: func.func @apart
// CHECK: tensor.cast
func.func @apart(%x: tensor<?x8x?x16xf32>) -> tensor<?x8x16xf32> {
  %c = tensor.cast %x : tensor<?x8x?x16xf32> to tensor<?x8x1x16xf32>
  %v = tensor.collapse_shape %c [[0], [1], [2, 3]] : tensor<?x8x1x16xf32> into tensor<?x8x16xf32>
  return %v : tensor<?x8x16xf32>
}
