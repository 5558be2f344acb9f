// copy-results: what is returned is computed for that; a second run changes nothing.
// RUN: mlir-gemm opt %s copy-results | FileCheck %s
// RUN: mlir-gemm opt %s copy-results copy-results | FileCheck %s

#id = affine_map<(m, n) -> (m, n)>

// An argument, and a value that is returned twice (once in another shape), are copied; the first return is not.
// CHECK-LABEL: func.func @copies(
//  CHECK-SAME: %[[A:.*]]: tensor<4x6xf32>)
//       CHECK:   %[[R:.*]] = linalg.generic
//       CHECK:   %[[V:.*]] = tensor.collapse_shape %[[R]]
//       CHECK:   %[[C0:.*]] = linalg.generic {{.*}} ins(%[[A]] :
//  CHECK-SAME:     tile.note = "a result that is not computed for it is copied"
//       CHECK:   %[[C1:.*]] = linalg.generic {{.*}} ins(%[[V]] :
//  CHECK-SAME:     tile.note = "a result that was returned before is copied"
//       CHECK:   return %[[R]], %[[C0]], %[[C1]]
func.func @copies(%A: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<24xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %v = tensor.collapse_shape %r [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %r, %A, %v : tensor<4x6xf32>, tensor<4x6xf32>, tensor<24xf32>
}

// Memory given goes first; a part of a tensor has no buffer of its own.
// CHECK-LABEL: func.func @memory(
//       CHECK:   %[[T:.*]] = bufferization.to_tensor
//       CHECK:   %[[P:.*]] = tensor.extract_slice
//       CHECK:   %[[C:.*]] = linalg.generic {{.*}} ins(%[[P]] :
//       CHECK:   bufferization.materialize_in_destination %[[C]] in
func.func @memory(%A: memref<4x6xf32>, %B: memref<2x6xf32>) {
  %t = bufferization.to_tensor %A restrict writable : memref<4x6xf32> to tensor<4x6xf32>
  %p = tensor.extract_slice %t[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  bufferization.materialize_in_destination %p in restrict writable %B : (tensor<2x6xf32>, memref<2x6xf32>) -> ()
  return
}
