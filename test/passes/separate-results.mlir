// separate-results: every result is computed for itself; a second run changes nothing.
// RUN: mlir-gemm opt %s separate-results | FileCheck %s
// RUN: mlir-gemm opt %s separate-results separate-results | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @argument(
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf32>)
//       CHECK:   return %[[COPY]]
func.func @argument(%A: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %A : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @view(
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %arg0
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[FLAT]] : tensor<24xf32>)
//       CHECK:   return %[[COPY]]
func.func @view(%A: tensor<4x6xf32>) -> tensor<24xf32> {
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}

// CHECK-LABEL: func.func @twice(
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} ins(%arg0 :
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[N]] :
//       CHECK:   return %[[N]], %[[COPY]]
func.func @twice(%A: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %0, %0 : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @filled(
//   CHECK-NOT:   linalg.fill
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4x6xf32>)
//       CHECK:     linalg.yield %cst
//       CHECK:   return %[[R]]
func.func @filled() -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %ce = tensor.empty() : tensor<4x6xf32>
  %c = linalg.fill ins(%zero : f32) outs(%ce : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @into_another(
//       CHECK:   %[[A:.*]] = bufferization.to_tensor %arg0
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[A]] :
//       CHECK:   bufferization.materialize_in_destination %[[COPY]] in restrict writable %arg1
func.func @into_another(%A: memref<4x6xf32>, %B: memref<4x6xf32>) {
  %a = bufferization.to_tensor %A restrict writable : memref<4x6xf32> to tensor<4x6xf32>
  bufferization.materialize_in_destination %a in restrict writable %B : (tensor<4x6xf32>, memref<4x6xf32>) -> ()
  return
}
