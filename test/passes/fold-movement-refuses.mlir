// fold-movement leaves what is returned as it is, what others also read, and what a product needs. No options.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' simplify-generics fold-movement | FileCheck %s
// RUN: not mlir-gemm opt %s 'fold-movement{down=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fold-movement' has no option 'down' (options: none)

// CHECK-LABEL: func.func @copy(
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf32>) outs({{.*}} : tensor<6x4xf32>)
//       CHECK:   return %[[T]]
func.func @copy(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  return %t : tensor<6x4xf32>
}

// Both orders of the result are wanted.
// CHECK-LABEL: func.func @both_orders(
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf32>)
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}} ins(%[[N]] : tensor<4x6xf32>) outs({{.*}} : tensor<6x4xf32>)
//       CHECK:   return %[[N]], %[[T]]
func.func @both_orders(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %d = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.negf ins(%x : tensor<4x6xf32>) outs(%d : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%0 : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  return %0, %t : tensor<4x6xf32>, tensor<6x4xf32>
}

// Without the broadcast, no operand of the product would have its columns.
// CHECK-LABEL: func.func @needed(
//       CHECK:   %[[WIDE:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<8xf32>) outs({{.*}} : tensor<8x6xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %[[WIDE]] : tensor<4x8xf32>, tensor<8x6xf32>)
func.func @needed(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %wide = linalg.broadcast ins(%v : tensor<8xf32>) outs(%e : tensor<8x6xf32>) dimensions = [1]
  %0 = linalg.matmul ins(%x, %wide : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
