// move-slices: what is read of a result is all that is computed of it; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s move-slices | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s move-slices move-slices | FileCheck %s

#e = affine_map<(b, t, c) -> (b, t, c)>
#r = affine_map<(b, t, c) -> (b, t)>
#w = affine_map<(b, t, c) -> (c)>

// The last row of each batch alone is normed: both that read x read its rows. Sums start from a number, whatever else
// starts from it.
// CHECK-LABEL: func.func @norm(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x9x8xf32>, %[[W:.*]]: tensor<8xf32>
//       CHECK:   %[[LAST:.*]] = tensor.extract_slice %[[X]][0, 8, 0] [4, 1, 8] [1, 1, 1]
//   CHECK-NOT:   tensor.extract_slice
//       CHECK:   %[[START:.*]] = linalg.fill {{.*}} -> tensor<4x1xf32>
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[LAST]] : tensor<4x1x8xf32>) outs(%[[START]] : tensor<4x1xf32>)
//       CHECK:   %[[NORM:.*]] = linalg.generic {{.*}} ins(%[[LAST]], %[[SUM]], %[[W]] : {{.*}}) outs(%{{.*}} : tensor<4x1x8xf32>)
//       CHECK:   %[[FLAT:.*]] = tensor.collapse_shape %[[NORM]]
//       CHECK:   return %[[FLAT]], %{{.*}} : tensor<4x8xf32>, tensor<4x9xf32>
func.func @norm(%x: tensor<4x9x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x9xf32>) -> tensor<4x9xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x9x8xf32>) outs(%f : tensor<4x9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = arith.mulf %v, %v : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<4x9xf32>
  %ne = tensor.empty() : tensor<4x9x8xf32>
  %n = linalg.generic {indexing_maps = [#e, #r, #w, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s, %w : tensor<4x9x8xf32>, tensor<4x9xf32>, tensor<8xf32>) outs(%ne : tensor<4x9x8xf32>) {
  ^bb0(%v: f32, %u: f32, %g: f32, %o: f32):
    %q = math.rsqrt %u : f32
    %a = arith.mulf %v, %q : f32
    %h = arith.mulf %a, %g : f32
    linalg.yield %h : f32
  } -> tensor<4x9x8xf32>
  %last = tensor.extract_slice %n[0, 8, 0] [4, 1, 8] [1, 1, 1] : tensor<4x9x8xf32> to tensor<4x8xf32>
  return %last, %f : tensor<4x8xf32>, tensor<4x9xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A product of rows of all batches, flattened: one row in three, told apart by the shape of x.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x3x8xf32>, %[[W:.*]]: tensor<8x5xf32>
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %[[X]][0, 2, 0] [4, 1, 8] [1, 1, 1]
//       CHECK:   %[[ROWS:.*]] = tensor.collapse_shape %[[PART]]
//       CHECK:   linalg.generic {{.*}} ins(%[[ROWS]], %[[W]] : tensor<4x8xf32>, tensor<8x5xf32>) outs(%{{.*}} : tensor<4x5xf32>)
func.func @product(%x: tensor<4x3x8xf32>, %w: tensor<8x5xf32>) -> tensor<4x1x5xf32> {
  %zero = arith.constant 0.0 : f32
  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x3x8xf32> into tensor<12x8xf32>
  %e = tensor.empty() : tensor<12x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x5xf32>) -> tensor<12x5xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<12x8xf32>, tensor<8x5xf32>) outs(%f : tensor<12x5xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %q = arith.mulf %v, %u : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<12x5xf32>
  %b = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 3, 5] : tensor<12x5xf32> into tensor<4x3x5xf32>
  %last = tensor.extract_slice %b[0, 2, 0] [4, 1, 5] [1, 1, 1] : tensor<4x3x5xf32> to tensor<4x1x5xf32>
  return %last : tensor<4x1x5xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>

// A place that is known at run time only is read of x instead.
// CHECK-LABEL: func.func @open(
//  CHECK-SAME:   %[[X:.*]]: tensor<9x8xf32>, %[[AT:.*]]: tensor<i64>
//       CHECK:   %[[ROW:.*]] = linalg.generic {{.*}} ins(%[[AT]] : tensor<i64>) outs(%{{.*}} : tensor<1x8xf32>)
//       CHECK:     tensor.extract %[[X]]
//       CHECK:   linalg.generic {{.*}} ins(%[[ROW]] : tensor<1x8xf32>) outs(%{{.*}} : tensor<1x8xf32>)
//       CHECK:     math.exp
func.func @open(%x: tensor<9x8xf32>, %at: tensor<i64>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = math.exp %v : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %re = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%at : tensor<i64>) outs(%re : tensor<8xf32>) {
  ^bb0(%v: i64, %o: f32):
    %i = arith.index_cast %v : i64 to index
    %j = linalg.index 0 : index
    %q = tensor.extract %y[%i, %j] : tensor<9x8xf32>
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>

// What a body says of positions stays true; both slices are the same part.
// CHECK-LABEL: func.func @positions(
//       CHECK:   %[[X:.*]] = tensor.extract_slice %{{.*}}[1, 0] [3, 8] [2, 1]
//   CHECK-NOT:   tensor.extract_slice
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<3x8xf32>)
//       CHECK:     %[[I:.*]] = linalg.index 0
//       CHECK:     %[[TWICE:.*]] = arith.muli %[[I]], %c2
//       CHECK:     %[[ROW:.*]] = arith.addi %[[TWICE]], %c1
//       CHECK:     arith.index_cast %[[ROW]]
//       CHECK:   return %[[Y]], %[[Y]]
func.func @positions(%x: tensor<9x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %e = tensor.empty() : tensor<9x8xf32>
  %y = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %q = arith.addf %v, %f : f32
    linalg.yield %q : f32
  } -> tensor<9x8xf32>
  %a = tensor.extract_slice %y[1, 0] [3, 8] [2, 1] : tensor<9x8xf32> to tensor<3x8xf32>
  %b = tensor.extract_slice %y[1, 0] [3, 8] [2, 1] : tensor<9x8xf32> to tensor<3x8xf32>
  return %a, %b : tensor<3x8xf32>, tensor<3x8xf32>
}
