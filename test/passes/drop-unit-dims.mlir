// drop-unit-dims: loops of one trip and dimensions of size 1 go; a second run changes nothing.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' drop-unit-dims | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' drop-unit-dims drop-unit-dims | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// A batch of one is a plain product.
// CHECK-LABEL: func.func @batch_of_one(
//   CHECK-DAG:   %[[A:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<1x4x8xf16> into tensor<4x8xf16>
//   CHECK-DAG:   %[[B:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]] : tensor<1x8x6xf16> into tensor<8x6xf16>
//   CHECK-DAG:   %[[C:.*]] = tensor.collapse_shape %arg2 {{\[\[}}0, 1], [2]] : tensor<1x4x6xf32> into tensor<4x6xf32>
//       CHECK:   %[[D:.*]] = linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]], {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]]
//       CHECK:   tensor.expand_shape %[[D]] {{\[\[}}0, 1], [2]] output_shape [1, 4, 6]
func.func @batch_of_one(%A: tensor<1x4x8xf16>, %B: tensor<1x8x6xf16>, %C: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
  %0 = linalg.batch_matmul ins(%A, %B : tensor<1x4x8xf16>, tensor<1x8x6xf16>)
                           outs(%C : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}

// With K = 1 the reduction loop stays, and with it the product.
// CHECK-LABEL: func.func @one_step(
//       CHECK:   linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1
func.func @one_step(%A: tensor<4x1xf16>, %B: tensor<1x6xf16>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.matmul ins(%A, %B : tensor<4x1xf16>, tensor<1x6xf16>) outs(%C : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// A 1x1 convolution is a product: its window loops have one trip.
// CHECK-LABEL: func.func @convolution(
//       CHECK:   %[[W:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2, 3]] : tensor<6x8x1x1xf16> into tensor<6x8xf16>
//       CHECK:   linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %[[W]]
func.func @convolution(%x: tensor<2x8x5x5xf16>, %w: tensor<6x8x1x1xf16>, %y: tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32> {
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x8x5x5xf16>, tensor<6x8x1x1xf16>)
                                outs(%y : tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32>
  return %0 : tensor<2x6x5x5xf32>
}

// An index 0 into a dimension of size 1 needs no loop.
// CHECK-LABEL: func.func @kept_dimension(
//       CHECK:   %[[S:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1]] : tensor<4x1xf32> into tensor<4xf32>
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %[[S]] : tensor<4x6xf32>, tensor<4xf32>)
func.func @kept_dimension(%A: tensor<4x6xf32>, %S: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%A, %S : tensor<4x6xf32>, tensor<4x1xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// What reads at computed places loses its loops of one trip, too: their positions are numbers.
// CHECK-LABEL: func.func @places(
//       CHECK:   linalg.generic {{.*}}, iterator_types = ["parallel"]} ins(%{{.*}}, %{{.*}} : tensor<i64>, tensor<8xi64>) outs(%{{.*}} : tensor<8xf32>)
//       CHECK:     tensor.extract %arg0[%{{.*}}, %{{.*}}] : tensor<1x8xf32>
//       CHECK:   tensor.expand_shape {{.*}} : tensor<8xf32> into tensor<1x8xf32>
func.func @places(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %last = arith.constant 7 : i64
  %p0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<1xi64>
  %p1 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<8xi64>
  %e = tensor.empty() : tensor<1x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p0, %p1 : tensor<1xi64>, tensor<8xi64>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %c = arith.subi %last, %b : i64
    %i = arith.index_cast %a : i64 to index
    %j = arith.index_cast %c : i64 to index
    %v = tensor.extract %x[%i, %j] : tensor<1x8xf32>
    linalg.yield %v : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// Of one row of one element nothing is left to reduce, nor any loop.
// CHECK-LABEL: func.func @one_element(
//   CHECK-NOT:   "reduction"
//       CHECK:   linalg.generic {{.*}}iterator_types = []
//       CHECK:     arith.maximumf
func.func @one_element(%x: tensor<1x1xf32>, %c: tensor<1xf32>) -> tensor<1xf32> {
  %y = linalg.reduce { arith.maximumf } ins(%x : tensor<1x1xf32>) outs(%c : tensor<1xf32>) dimensions = [1]
  return %y : tensor<1xf32>
}
