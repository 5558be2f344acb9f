// expand-scatter: torch-mlir's index_put, in its own custom form: a maximum over the updates finds the last one of each
// place, and each element is that update's or what was there.
// RUN: mlir-gemm opt %s expand-scatter | FileCheck %s
// RUN: mlir-gemm opt %s expand-scatter expand-scatter | FileCheck %s

// CHECK-LABEL: func.func @rows(
//  CHECK-SAME:   %[[CACHE:.*]]: tensor<2x9x16xf32>, %[[NEW:.*]]: tensor<2x1x1x16xf32>, %[[AT:.*]]: tensor<2x2xi64>
//       CHECK:   %[[I:.*]] = tensor.extract_slice %[[AT]][0, 0] [2, 1] [1, 1] : tensor<2x2xi64> to tensor<2xi64>
//       CHECK:   %[[J:.*]] = tensor.extract_slice %[[AT]][0, 1] [2, 1] [1, 1] : tensor<2x2xi64> to tensor<2xi64>
//       CHECK:   %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<2x9xi32>
//       CHECK:   %[[LAST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[I]], %[[J]] : {{.*}}) outs(%[[NONE]]
//       CHECK:     cf.assert %{{.*}}, "index must be smaller than dim size"
//       CHECK:     cf.assert %{{.*}}, "index must be larger or equal to 0"
//       CHECK:     arith.maxsi
//       CHECK:   linalg.generic {{.*}} ins(%[[LAST]], %[[CACHE]] : tensor<2x9xi32>, tensor<2x9x16xf32>)
//       CHECK:     tensor.extract %[[NEW]][%{{.*}}, %c0{{.*}}, %c0{{.*}}, %{{.*}}]
//       CHECK:     arith.select
//   CHECK-NOT:   tm_tensor
func.func @rows(%cache: tensor<2x9x16xf32>, %new: tensor<2x1x1x16xf32>, %at: tensor<2x2xi64>) -> tensor<2x9x16xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(true) ins(%new, %at : tensor<2x1x1x16xf32>, tensor<2x2xi64>) outs(%cache : tensor<2x9x16xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<2x9x16xf32>
  return %0 : tensor<2x9x16xf32>
}
