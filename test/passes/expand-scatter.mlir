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

// Updates that are added, to few places: each adds up all of them, of which those of other places are -0.
// CHECK-LABEL: func.func @few_places(
//  CHECK-SAME:   %[[X:.*]]: tensor<9x16xf32>, %[[NEW:.*]]: tensor<3x1x16xf32>, %[[AT:.*]]: tensor<3x1xi64>
//       CHECK:   %[[PLACES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3xi32>)
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[PLACES]], %[[NEW]] : {{.*}}) outs(%[[X]]
//       CHECK:     arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
//       CHECK:     arith.addf
//   CHECK-NOT:   tm_tensor
func.func @few_places(%x: tensor<9x16xf32>, %new: tensor<3x1x16xf32>, %at: tensor<3x1xi64>) -> tensor<9x16xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %at : tensor<3x1x16xf32>, tensor<3x1xi64>) outs(%x : tensor<9x16xf32>) {
  ^bb0(%update: f32, %old: f32):
    %1 = arith.addf %old, %update : f32
    tm_tensor.yield %1 : f32
  } -> tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}

// To many places: the last update of each, the one before each update in its place, two steps of a chain of up to 6
// updates in f32, and the sum of what was there and what the last one has.
// CHECK-LABEL: func.func @many_places(
//  CHECK-SAME:   %[[X:.*]]: tensor<80xf16>, %[[NEW:.*]]: tensor<6x1xf16>, %[[AT:.*]]: tensor<6x1xi64>
//       CHECK:   %[[PLACES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6xi32>)
//       CHECK:   %[[LAST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<80xi32>)
//       CHECK:   %[[BEFORE:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[PLACES]], %[[PLACES]] : {{.*}} outs(%{{.*}} : tensor<6xi32>)
//       CHECK:   %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[NEW]], %[[BEFORE]] : {{.*}} outs(%{{.*}} : tensor<6x1xf32>)
//       CHECK:   %[[FURTHER:.*]] = linalg.generic {{.*}} ins(%[[BEFORE]] : {{.*}} outs(%{{.*}} : tensor<6xi32>)
//       CHECK:   %[[TWO:.*]] = linalg.generic {{.*}} ins(%[[ONE]], %[[FURTHER]] : {{.*}} outs(%{{.*}} : tensor<6x1xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[LAST]], %[[X]] : tensor<80xi32>, tensor<80xf16>)
//       CHECK:     tensor.extract %[[TWO]]
//       CHECK:     arith.truncf
//   CHECK-NOT:   tm_tensor
func.func @many_places(%x: tensor<80xf16>, %new: tensor<6x1xf16>, %at: tensor<6x1xi64>) -> tensor<80xf16> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %at : tensor<6x1xf16>, tensor<6x1xi64>) outs(%x : tensor<80xf16>) {
  ^bb0(%update: f16, %old: f16):
    %1 = arith.addf %old, %update : f16
    tm_tensor.yield %1 : f16
  } -> tensor<80xf16>
  return %0 : tensor<80xf16>
}
