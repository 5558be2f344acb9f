// compute-gathered: what is read at computed places is computed there; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s compute-gathered | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s compute-gathered compute-gathered | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#i = affine_map<(m) -> (m)>

// The end of a log-softmax, of which one element in a row is read: kernel 0 keeps its sums and loses its differences.
// CHECK-LABEL: func.func @one_of_a_row(
//  CHECK-SAME:   %[[A:.*]]: tensor<4x60xf32>, %[[MOST:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xi64>)
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]}{{.*}}tile.kernel = 0
//   CHECK-NOT:   tensor<4x60xf32>, tensor<4xf32>
//       CHECK:   linalg.generic {{.*}}tile.kernel = 1
//       CHECK:   %[[X:.*]] = tensor.extract %[[A]][%[[ROW:.*]], %[[AT:.*]]] : tensor<4x60xf32>
//       CHECK:   %[[MAX:.*]] = tensor.extract %[[MOST]][%[[ROW]]] : tensor<4xf32>
//       CHECK:   %[[D:.*]] = arith.subf %[[X]], %[[MAX]]
//       CHECK:   %[[LOG:.*]] = tensor.extract %[[SUM]][%[[ROW]]] : tensor<4xf32>
//       CHECK:   %[[P:.*]] = arith.subf %[[D]], %[[LOG]]
//       CHECK:   linalg.yield %[[P]]
func.func @one_of_a_row(%A: tensor<4x60xf32>, %most: tensor<4xf32>, %index: tensor<4xi64>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<4x60xf32>
  %row = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %most : tensor<4x60xf32>, tensor<4xf32>) outs(%all : tensor<4x60xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x60xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<4x60xf32>) outs(%start : tensor<4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%d, %sum : tensor<4x60xf32>, tensor<4xf32>) outs(%all : tensor<4x60xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x60xf32>
  %place = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<4xi64>
  %g = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
      ins(%index, %place : tensor<4xi64>, tensor<4xi64>) outs(%row : tensor<4xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: i64, %y: i64, %o: f32):
    %i = arith.index_cast %y : i64 to index
    %j = arith.index_cast %x : i64 to index
    %r = tensor.extract %p[%i, %j] : tensor<4x60xf32>
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#nm = affine_map<(m, n) -> (n, m)>
#i = affine_map<(m) -> (m)>

// A whole kernel is gone, and its place among the numbers: rows of a transposed table are scaled as they are gathered.
// CHECK-LABEL: func.func @scaled_table(
//   CHECK-NOT:   arith.mulf
//       CHECK:   linalg.generic {{.*}}tile.kernel = 0
//       CHECK:   %[[X:.*]] = tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<60x8xf32>
//       CHECK:   arith.mulf %[[X]], %{{.*}} : f32
func.func @scaled_table(%T: tensor<60x8xf32>, %index: tensor<2xi64>) -> tensor<2xf32> {
  %two = arith.constant 2.0 : f32
  %all = tensor.empty() : tensor<8x60xf32>
  %few = tensor.empty() : tensor<2xf32>
  %t = linalg.generic {indexing_maps = [#nm, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%T : tensor<60x8xf32>) outs(%all : tensor<8x60xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = arith.mulf %x, %two : f32
    linalg.yield %r : f32
  } -> tensor<8x60xf32>
  %g = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%index : tensor<2xi64>) outs(%few : tensor<2xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: i64, %o: f32):
    %j = arith.index_cast %x : i64 to index
    %i = arith.constant 3 : index
    %r = tensor.extract %t[%i, %j] : tensor<8x60xf32>
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %g : tensor<2xf32>
}
