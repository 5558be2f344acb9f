// separate-results refuses a result that is never computed, and leaves computed ones. No options.
// RUN: sed '/^func.func @empty(/,/^}/!s/.*//' %s | not mlir-gemm opt - separate-results 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: sed '/^func.func @empty(/,/^}/s/.*//' %s | mlir-gemm opt - separate-results | FileCheck %s
// RUN: not mlir-gemm opt %s 'separate-results{copy=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'separate-results' has no option 'copy' (options: none)

#id = affine_map<(i, j) -> (i, j)>

func.func @empty() -> tensor<4x6xf32> {
  %0 = tensor.empty() : tensor<4x6xf32>
  // EMPTY: -:[[# @LINE + 1]]:3: error: result 0 is never computed (it is a tensor.empty)
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @computed(
//       CHECK:   %[[N:.*]] = linalg.generic
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %[[N]]
//       CHECK:   return %[[FLAT]]
func.func @computed(%A: tensor<4x6xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %1 : tensor<24xf32>
}
