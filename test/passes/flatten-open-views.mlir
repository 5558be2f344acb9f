// flatten-open-views: what torch-mlir writes for a view of two open sizes as one is that view.
// RUN: mlir-gemm opt %s flatten-open-views | FileCheck %s
// RUN: mlir-gemm opt %s flatten-open-views flatten-open-views | FileCheck %s

// CHECK-LABEL: func.func @view(
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x?x24xf32> into tensor<?x24xf32>
func.func @view(%x: tensor<?x?x24xf32>) -> tensor<?x24xf32> {
  %0 = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %1 : tensor<?x24xf32>
}

// One open size is not two.
// CHECK-LABEL: func.func @one(
//       CHECK:   tensor.cast
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]]
func.func @one(%x: tensor<4x?x24xf32>) -> tensor<4x24xf32> {
  %0 = tensor.cast %x : tensor<4x?x24xf32> to tensor<4x1x24xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x1x24xf32> into tensor<4x24xf32>
  return %1 : tensor<4x24xf32>
}
