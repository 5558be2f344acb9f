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

// A batch of one product, as of an einsum: its rows are those of both sizes, and the first is not checked to be 1.
// CHECK-LABEL: func.func @einsum(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x?x8xf32>
//   CHECK-NOT:   cf.assert
//   CHECK-NOT:   tensor.cast
//       CHECK:   %[[V:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3, 4]] : tensor<?x?x8x1x1xf32> into tensor<?x?x8xf32>
//       CHECK:   %[[F:.*]] = tensor.collapse_shape %[[V]] {{\[\[}}0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
//       CHECK:   %[[R:.*]] = tensor.expand_shape %[[F]] {{\[\[}}0, 1], [2]]
//       CHECK:   linalg.batch_matmul ins(%[[R]],
func.func @einsum(%x: tensor<?x?x8xf32>, %w: tensor<1x8x48xf32>, %o: tensor<1x?x48xf32>) -> tensor<1x?x48xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %n = arith.index_cast %b : index to i64
  %e = tensor.expand_shape %x [[0], [1], [2, 3, 4]] output_shape [%b, %t, 8, 1, 1] : tensor<?x?x8xf32> into tensor<?x?x8x1x1xf32>
  %is = arith.cmpi eq, %n, %one : i64
  cf.assert %is, "mismatching contracting dimension"
  %0 = tensor.cast %e : tensor<?x?x8x1x1xf32> to tensor<1x?x8x1x1xf32>
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3, 4]] : tensor<1x?x8x1x1xf32> into tensor<1x?x8xf32>
  %2 = linalg.batch_matmul ins(%1, %w : tensor<1x?x8xf32>, tensor<1x8x48xf32>) outs(%o : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
  return %2 : tensor<1x?x48xf32>
}

// The cast has become part of the work in front, through a transpose.
// CHECK-LABEL: func.func @weighted(
//       CHECK:   %[[M:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?x1x4xf32>)
//       CHECK:   %[[T:.*]] = linalg.transpose ins(%[[M]] : tensor<?x?x1x4xf32>) outs(%{{.*}} : tensor<?x?x4x1xf32>)
//       CHECK:   %[[V:.*]] = tensor.collapse_shape %[[T]] {{\[\[}}0], [1], [2, 3]] : tensor<?x?x4x1xf32> into tensor<?x?x4xf32>
//       CHECK:   tensor.collapse_shape %[[V]] {{\[\[}}0, 1], [2]]
func.func @weighted(%x: tensor<?x?x1x4xf32>, %s: tensor<?x?x1x1xf32>, %w: tensor<1x4x8xf32>, %o: tensor<1x?x8xf32>, %t: index) -> tensor<1x?x8xf32> {
  %e = tensor.empty(%t) : tensor<1x?x1x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, 0)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<?x?x1x4xf32>, tensor<?x?x1x1xf32>) outs(%e : tensor<1x?x1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x?x1x4xf32>
  %f = tensor.empty(%t) : tensor<1x?x4x1xf32>
  %1 = linalg.transpose ins(%0 : tensor<1x?x1x4xf32>) outs(%f : tensor<1x?x4x1xf32>) permutation = [0, 1, 3, 2]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<1x?x4x1xf32> into tensor<1x?x4xf32>
  %3 = linalg.batch_matmul ins(%2, %w : tensor<1x?x4xf32>, tensor<1x4x8xf32>) outs(%o : tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  return %3 : tensor<1x?x8xf32>
}

// A batch that is one, and a size that something else uses, stay.
// CHECK-LABEL: func.func @one_batch(
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   tensor.cast
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   return
func.func @one_batch(%x: tensor<1x?x8xf32>, %y: tensor<?x?x8xf32>, %w: tensor<1x8x48xf32>, %o: tensor<1x?x48xf32>) -> (tensor<1x?x48xf32>, tensor<1x?x48xf32>, tensor<1x?x8xf32>) {
  %0 = linalg.batch_matmul ins(%x, %w : tensor<1x?x8xf32>, tensor<1x8x48xf32>) outs(%o : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
  %1 = tensor.cast %y : tensor<?x?x8xf32> to tensor<1x?x8xf32>
  %2 = linalg.batch_matmul ins(%1, %w : tensor<1x?x8xf32>, tensor<1x8x48xf32>) outs(%o : tensor<1x?x48xf32>) -> tensor<1x?x48xf32>
  return %0, %2, %1 : tensor<1x?x48xf32>, tensor<1x?x48xf32>, tensor<1x?x8xf32>
}

// -----

// A batch of products whose rows are of both sizes, with a transpose between where one is lost and the view: the rows
// are flattened where they lie beside each other, and the check of a batch of 1 goes.
// CHECK-LABEL: func.func @experts
// CHECK-NOT: tensor.cast
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<8x?x?x16x1xf32>) permutation = [1, 0, 2, 3, 4]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]] : tensor<8x?x?x16x1xf32> into tensor<8x?x16xf32>
func.func @experts(%x: tensor<?x8x?x16x1xf32>, %w: tensor<8x16x4xf32>) -> tensor<8x?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x8x?x16x1xf32>
  %e = tensor.empty(%b) : tensor<8x?x1x16x1xf32>
  %c = tensor.cast %x : tensor<?x8x?x16x1xf32> to tensor<?x8x1x16x1xf32>
  %t = linalg.transpose ins(%c : tensor<?x8x1x16x1xf32>) outs(%e : tensor<8x?x1x16x1xf32>) permutation = [1, 0, 2, 3, 4]
  %v = tensor.collapse_shape %t [[0], [1], [2, 3, 4]] : tensor<8x?x1x16x1xf32> into tensor<8x?x16xf32>
  %f = tensor.empty(%b) : tensor<8x?x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  %p = linalg.batch_matmul ins(%v, %w : tensor<8x?x16xf32>, tensor<8x16x4xf32>) outs(%i : tensor<8x?x4xf32>) -> tensor<8x?x4xf32>
  return %p : tensor<8x?x4xf32>
}

// -----

// A product for each token: its batch is of both sizes.
// CHECK-LABEL: func.func @tokens
// CHECK-NOT: cf.assert
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<?x?x8x1xf32> into tensor<?x8xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1], [2]] {{.*}} : tensor<?x8xf32> into tensor<?x1x8xf32>
func.func @tokens(%x: tensor<?x?x8x1xf32>) -> tensor<?x1x8xf32> {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %t = tensor.dim %x, %c1 : tensor<?x?x8x1xf32>
  %n = arith.index_cast %t : index to i64
  %ok = arith.cmpi eq, %n, %one : i64
  cf.assert %ok, "mismatching contracting dimension"
  %c = tensor.cast %x : tensor<?x?x8x1xf32> to tensor<?x1x8x1xf32>
  %v = tensor.collapse_shape %c [[0], [1], [2, 3]] : tensor<?x1x8x1xf32> into tensor<?x1x8xf32>
  return %v : tensor<?x1x8xf32>
}

// -----

// Rows of a table, as many as t says, of which the first one is left: the check tells how many are meant.
// CHECK-LABEL: func.func @positions(
//  CHECK-SAME:   %[[X:.*]]: tensor<?x?x24xf32>, %[[TABLE:.*]]: tensor<160x24xf32>
//       CHECK:   %[[END:.*]] = arith.minsi
//       CHECK:   %[[ROWS:.*]] = tensor.extract_slice %[[TABLE]][0, 0] [%[[END]], 24] [1, 1] : tensor<160x24xf32> to tensor<?x24xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[ROWS]] : tensor<?x?x24xf32>, tensor<?x24xf32>) outs(%{{.*}} : tensor<?x?x24xf32>)
//       CHECK:   tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
func.func @positions(%x: tensor<?x?x24xf32>, %table: tensor<160x24xf32>) -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c160 = arith.constant 160 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %end = arith.minsi %t, %c160 : index
  %same = arith.cmpi eq, %t, %end : index
  cf.assert %same, "mismatched size for broadcast"
  %e = tensor.empty(%b) : tensor<?x1x24xf32>
  %c = tensor.cast %x : tensor<?x?x24xf32> to tensor<?x1x24xf32>
  %rows = tensor.extract_slice %table[0, 0] [1, 24] [1, 1] : tensor<160x24xf32> to tensor<1x24xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %rows : tensor<?x1x24xf32>, tensor<1x24xf32>) outs(%e : tensor<?x1x24xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.addf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<?x1x24xf32>
  %v = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x1x24xf32> into tensor<?x24xf32>
  return %v : tensor<?x24xf32>
}
