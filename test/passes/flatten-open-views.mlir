// flatten-open-views: what torch-mlir writes for a view of two open sizes as one is that view.
// RUN: mlir-gemm opt %s flatten-open-views | FileCheck %s
// RUN: mlir-gemm opt %s flatten-open-views flatten-open-views | FileCheck %s

#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i, j, 0)>
#last = affine_map<(i, j, k) -> (k)>

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

// The cast stands before elementwise work, as in an MLP: the work is done on both sizes.
// CHECK-LABEL: func.func @before(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x?x24xf32>
//   CHECK-NOT:   tensor.cast
//   CHECK-DAG:   %[[B:.*]] = tensor.dim %[[X]], %c0
//   CHECK-DAG:   %[[T:.*]] = tensor.dim %[[X]], %c1
//       CHECK:   %[[E:.*]] = tensor.empty(%[[B]], %[[T]]) : tensor<?x?x24xf32>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x?x24xf32>) outs(%[[E]] : tensor<?x?x24xf32>)
//       CHECK:   %[[F:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[X]] : tensor<?x?x24xf32>, tensor<?x?x24xf32>)
//       CHECK:   tensor.collapse_shape %[[F]] {{\[\[}}0, 1], [2]]
func.func @before(%x: tensor<?x?x24xf32>, %b: index) -> tensor<?x24xf32> {
  %0 = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0 : tensor<?x1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %0 : tensor<?x1x24xf32>, tensor<?x1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.mulf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %3 : tensor<?x24xf32>
}

// The cast has become part of the work, as after a norm: an operand has the size that the result has lost.
// CHECK-LABEL: func.func @inside(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?x24xf32>)
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x?x24xf32>
func.func @inside(%x: tensor<?x?x24xf32>, %f: tensor<?x?x1xf32>, %w: tensor<24xf32>, %b: index) -> tensor<?x24xf32> {
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %1 = linalg.generic {indexing_maps = [#all, #row, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %f, %w : tensor<?x?x24xf32>, tensor<?x?x1xf32>, tensor<24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %s: f32, %g: f32, %o: f32):
    %t = arith.mulf %v, %s : f32
    %r = arith.mulf %t, %g : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %3 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %3 : tensor<?x24xf32>
}

// A size that is 1 in an operand is 1; and what something else uses stays as it is.
// CHECK-LABEL: func.func @kept(
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]]
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]]
func.func @kept(%x: tensor<?x1x24xf32>, %y: tensor<?x?x24xf32>, %b: index) -> (tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x1x24xf32>) {
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<?x1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  %3 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<?x?x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %4 = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %2, %4, %3 : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x1x24xf32>
}

// The cast has gone through an embedding, to its indices.
// CHECK-LABEL: func.func @embedding(
//  CHECK-SAME:   %[[I:[^:]*]]: tensor<?x?xi64>
//   CHECK-NOT:   tensor.cast
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<?x?xi64>) outs(%{{.*}} : tensor<?x?x24xf32>)
//       CHECK:   tensor.collapse_shape %[[R]] {{\[\[}}0, 1], [2]]
func.func @embedding(%i: tensor<?x?xi64>, %table: tensor<20x24xf32>, %b: index) -> tensor<?x24xf32> {
  %0 = tensor.cast %i : tensor<?x?xi64> to tensor<?x1xi64>
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<?x1xi64>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%n: i64, %o: f32):
    %row = arith.index_cast %n : i64 to index
    %d = linalg.index 2 : index
    %v = tensor.extract %table[%row, %d] : tensor<20x24xf32>
    linalg.yield %v : f32
  } -> tensor<?x1x24xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %2 : tensor<?x24xf32>
}

// A residual goes past the views: what is added to it counts as of both sizes, and is not checked to be of one.
// CHECK-LABEL: func.func @residual(
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
//       CHECK:   cf.assert %{{.*}}, "rows"
//   CHECK-NOT:   cf.assert
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %reshape : tensor<?x?x24xf32>, tensor<?x?x24xf32>)
//   CHECK-NOT:   tensor.cast
//       CHECK:   return %[[S]] : tensor<?x?x24xf32>
func.func @residual(%x: tensor<?x?x24xf32>, %w: tensor<24x24xf32>, %flat: tensor<?x24xf32>, %b: index, %m: i64, %t: i64) -> (tensor<?x?x24xf32>) {
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0 : tensor<?x1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<?x24xf32>, tensor<24x24xf32>) outs(%flat : tensor<?x24xf32>) -> tensor<?x24xf32>
  %c24 = arith.constant 24 : i64
  %sizes = tensor.from_elements %m, %t, %c24 : tensor<3xi64>
  %4 = tensor.reshape %3(%sizes) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
  %rows = arith.index_cast %m : i64 to index
  %5 = arith.cmpi eq, %rows, %b : index
  cf.assert %5, "rows"
  %columns = arith.index_cast %t : i64 to index
  %6 = arith.cmpi eq, %columns, %c1 : index
  cf.assert %6, "columns"
  %7 = tensor.cast %4 : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  %8 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %7 : tensor<?x1x24xf32>, tensor<?x1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %r = arith.addf %v, %u : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %9 = tensor.cast %8 : tensor<?x1x24xf32> to tensor<?x?x24xf32>
  return %9 : tensor<?x?x24xf32>
}
