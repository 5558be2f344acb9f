// propagate-reshapes leaves divisions that exclude each other and tensors without elements. No options.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' propagate-reshapes | FileCheck %s
// RUN: not mlir-gemm opt %s 'propagate-reshapes{up=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'propagate-reshapes' has no option 'up' (options: none)

// 12 elements are 3 rows of 4 on the way in and 2 of 6 on the way out: the result is collapsed and divided anew.
// CHECK-LABEL: func.func @conflict(
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<3x4xf32>) outs({{.*}} : tensor<3x4xf32>)
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %[[N]] {{\[\[}}0, 1]] : tensor<3x4xf32> into tensor<12xf32>
//       CHECK:   %[[R:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [2, 6]
//       CHECK:   return %[[R]]
func.func @conflict(%a: tensor<3x4xf32>) -> tensor<2x6xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %1 = linalg.negf ins(%0 : tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [2, 6] : tensor<12xf32> into tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @empty(
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %arg0
//       CHECK:   linalg.generic {{.*}} ins(%[[FLAT]] : tensor<0xf32>)
func.func @empty(%a: tensor<3x0xf32>) -> tensor<0xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x0xf32> into tensor<0xf32>
  %e = tensor.empty() : tensor<0xf32>
  %1 = linalg.negf ins(%0 : tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  return %1 : tensor<0xf32>
}
