// raise-to-tensors: what each buffer holds is a tensor; arguments that were written get theirs at the end.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' raise-to-tensors | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' raise-to-tensors raise-to-tensors | FileCheck %s --check-prefix=TWICE

// TWICE-COUNT-1: materialize_in_destination
// TWICE-COUNT-6: materialize_in_destination
//     TWICE-NOT: materialize_in_destination

memref.global "private" constant @weights : memref<8x6xf32> = dense<2.0>

// An argument that is only read keeps its strides; the one that is updated in place is read and written.
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @in_place(
//  CHECK-SAME: %[[A:.*]]: memref<4x8xf32, strided<[16, 1], offset: 3>>, %[[C:.*]]: memref<4x6xf32>
//   CHECK-DAG:   %[[TA:.*]] = bufferization.to_tensor %[[A]] restrict writable : memref<4x8xf32, strided<[16, 1], offset: 3>> to tensor<4x8xf32>
//   CHECK-DAG:   %[[TC:.*]] = bufferization.to_tensor %[[C]] restrict writable : memref<4x6xf32> to tensor<4x6xf32>
//   CHECK-DAG:   %[[W:.*]] = arith.constant dense<2.000000e+00> : tensor<8x6xf32>
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}} ins(%[[TA]], %[[W]] : {{.*}}) outs(%[[TC]] : tensor<4x6xf32>)
//       CHECK:   bufferization.materialize_in_destination %[[D]] in restrict writable %[[C]]
//  CHECK-NEXT:   return
func.func @in_place(%A: memref<4x8xf32, strided<[16, 1], offset: 3>>, %C: memref<4x6xf32>) {
  %w = memref.get_global @weights : memref<8x6xf32>
  linalg.matmul ins(%A, %w : memref<4x8xf32, strided<[16, 1], offset: 3>>, memref<8x6xf32>) outs(%C : memref<4x6xf32>)
  return
}

// A temporary is a chain of tensors; what is not read is not passed on.
// CHECK-LABEL: func.func @temporary(
//   CHECK-NOT:   memref.alloc
//       CHECK:   %[[FILLED:.*]] = linalg.generic
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}} outs(%[[FILLED]] : tensor<4x6xf32>)
//       CHECK:   %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<4x6xf32>) outs(%[[EMPTY]] : tensor<4x6xf32>)
//       CHECK:   bufferization.materialize_in_destination %[[E]] in
//   CHECK-NOT:   memref.dealloc
func.func @temporary(%A: memref<4x8xf32>, %B: memref<8x6xf32>, %D: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<4x6xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<4x6xf32>)
  linalg.matmul ins(%A, %B : memref<4x8xf32>, memref<8x6xf32>) outs(%t : memref<4x6xf32>)
  linalg.exp ins(%t : memref<4x6xf32>) outs(%D : memref<4x6xf32>)
  memref.dealloc %t : memref<4x6xf32>
  return
}

// Views are read by moving the tensor, and written by moving the result back.
// CHECK-LABEL: func.func @views(
//   CHECK-DAG:   %[[A:.*]] = bufferization.to_tensor %arg0
//   CHECK-DAG:   %[[B:.*]] = bufferization.to_tensor %arg1
//       CHECK:   %[[E:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1]] output_shape [4, 6]
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]]
//       CHECK:   %[[BACK:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], {{.*}}} ins(%[[SUM]] : tensor<4x6xf32>) outs({{.*}} : tensor<6x4xf32>)
//       CHECK:   %[[SLICE:.*]] = tensor.extract_slice %[[BACK]][2, 0] [4, 4] [1, 1]
//       CHECK:   %[[NEG:.*]] = linalg.generic {{.*}} ins(%[[SLICE]]
//       CHECK:   %[[WHOLE:.*]] = tensor.insert_slice %[[NEG]] into %[[BACK]][2, 0] [4, 4] [1, 1]
//       CHECK:   bufferization.materialize_in_destination %[[WHOLE]] in restrict writable %arg1
func.func @views(%A: memref<24xf32>, %B: memref<6x4xf32>) {
  %e = memref.expand_shape %A [[0, 1]] output_shape [4, 6] : memref<24xf32> into memref<4x6xf32>
  %t = memref.transpose %B (i, j) -> (j, i) : memref<6x4xf32> to memref<4x6xf32, strided<[1, 4]>>
  linalg.add ins(%e, %t : memref<4x6xf32>, memref<4x6xf32, strided<[1, 4]>>) outs(%t : memref<4x6xf32, strided<[1, 4]>>)
  %s = memref.subview %B[2, 0] [4, 4] [1, 1] : memref<6x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 8>>
  linalg.negf ins(%s : memref<4x4xf32, strided<[4, 1], offset: 8>>) outs(%s : memref<4x4xf32, strided<[4, 1], offset: 8>>)
  return
}

// A copy gives what the source holds now, whatever is written to it later.
// CHECK-LABEL: func.func @copies(
//       CHECK:   %[[A:.*]] = bufferization.to_tensor %arg0
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} ins(%[[A]]
//       CHECK:   bufferization.materialize_in_destination %[[A]] in restrict writable %arg1
//       CHECK:   bufferization.materialize_in_destination %[[N]] in restrict writable %arg0
func.func @copies(%A: memref<4xf32>, %B: memref<4xf32>) {
  memref.copy %A, %B : memref<4xf32> to memref<4xf32>
  linalg.negf ins(%A : memref<4xf32>) outs(%A : memref<4xf32>)
  return
}

// Parts that do not meet are written for themselves, and read as they are then.
// CHECK-LABEL: func.func @parts(
//  CHECK-SAME: %[[C:.*]]: memref<8x4xf32>
//       CHECK:   %[[TC:.*]] = bufferization.to_tensor %[[C]]
//       CHECK:   %[[LOW:.*]] = tensor.extract_slice %[[TC]][4, 0] [4, 4] [1, 1]
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[LOW]] : tensor<4x4xf32>)
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<4x4xf32>)
//   CHECK-NOT:   tensor.insert_slice
//       CHECK:   %[[FIRST:.*]] = memref.subview %[[C]][0, 0] [4, 4] [1, 1]
//       CHECK:   bufferization.materialize_in_destination %[[E]] in restrict writable %[[FIRST]]
//       CHECK:   %[[SECOND:.*]] = memref.subview %[[C]][4, 0] [4, 4] [1, 1]
//       CHECK:   bufferization.materialize_in_destination %[[T]] in restrict writable %[[SECOND]]
func.func @parts(%C: memref<8x4xf32>) {
  %c = memref.subview %C[0, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  %d = memref.subview %C[4, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 16>>
  linalg.exp ins(%d : memref<4x4xf32, strided<[4, 1], offset: 16>>) outs(%c : memref<4x4xf32, strided<[4, 1]>>)
  linalg.tanh ins(%c : memref<4x4xf32, strided<[4, 1]>>) outs(%d : memref<4x4xf32, strided<[4, 1], offset: 16>>)
  return
}
