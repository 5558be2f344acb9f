// index-to-operands: positions of loops become operands, and index values in bodies integers.
// RUN: mlir-gemm opt %s index-to-operands | FileCheck %s
// RUN: mlir-gemm opt %s index-to-operands index-to-operands | FileCheck %s

// A causal mask: both positions are read along their own loops.
// CHECK-LABEL: func.func @causal(
//   CHECK-DAG:   %[[I:.*]] = "tile.position"() {{.*}} : () -> tensor<9xi64>
//   CHECK-DAG:   %[[J:.*]] = "tile.position"() {{.*}} : () -> tensor<13xi64>
//       CHECK:   linalg.generic {indexing_maps = [#[[MN:.*]], #[[M:.*]], #[[N:.*]], #[[MN]]]
//  CHECK-SAME:     ins(%{{.*}}, %[[I]], %[[J]] : tensor<9x13xf32>, tensor<9xi64>, tensor<13xi64>)
//       CHECK:   ^bb0(%[[V:.*]]: f32, %[[R:.*]]: i64, %[[C:.*]]: i64, %{{.*}}: f32):
//   CHECK-NOT:     linalg.index
//       CHECK:     %[[BELOW:.*]] = arith.cmpi sle, %[[C]], %[[R]] : i64
//       CHECK:     arith.select %[[BELOW]], %[[V]]
func.func @causal(%x: tensor<9x13xf32>) -> tensor<9x13xf32> {
  %e = tensor.empty() : tensor<9x13xf32>
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x13xf32>) outs(%e : tensor<9x13xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = arith.index_cast %i : index to i64
    %b = arith.index_cast %j : index to i64
    %c = arith.cmpi sle, %b, %a : i64
    %r = arith.select %c, %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<9x13xf32>
  return %0 : tensor<9x13xf32>
}

// Arithmetic on index, index constants from inside and outside, casts to narrow integers; a loop of one trip stands at 0.
// CHECK-LABEL: func.func @arithmetic(
//       CHECK:   %[[I:.*]] = "tile.position"() {{.*}} : () -> tensor<9xi64>
//   CHECK-NOT:   tile.position
//       CHECK:   ^bb0(%[[R:.*]]: i64, %{{.*}}: i32):
//       CHECK:     arith.constant 0 : i64
//       CHECK:     arith.constant 3 : i64
//       CHECK:     %[[A:.*]] = arith.muli %[[R]], %{{.*}} : i64
//       CHECK:     %[[B:.*]] = arith.addi %[[A]], %{{.*}} : i64
//       CHECK:     %[[C:.*]] = arith.minsi %[[B]], %{{.*}} : i64
//       CHECK:     arith.trunci %[[C]] : i64 to i32
//   CHECK-NOT:   index
func.func @arithmetic() -> tensor<9x1xi32> {
  %e = tensor.empty() : tensor<9x1xi32>
  %most = arith.constant 20 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
                       outs(%e : tensor<9x1xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %three = arith.constant 3 : index
    %a = arith.muli %i, %three : index
    %b = arith.addi %a, %j : index
    %c = arith.minsi %b, %most : index
    %d = arith.index_cast %c : index to i32
    linalg.yield %d : i32
  } -> tensor<9x1xi32>
  return %0 : tensor<9x1xi32>
}

// What nobody uses goes.
// CHECK-LABEL: func.func @unused(
//   CHECK-NOT:   tile.position
//   CHECK-NOT:   linalg.index
//       CHECK:   return
func.func @unused(%x: tensor<9xf32>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
                       ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    linalg.yield %v : f32
  } -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// The places of the largest elements in windows, as torch-mlir writes max_pool2d(return_indices=True): what only says
// how large a window is has no values, and is no operand of a kernel.
// CHECK-LABEL: func.func @places(
//       CHECK:   %[[I:.*]] = "tile.position"() {{.*}} : () -> tensor<4xi64>
//       CHECK:   %[[W:.*]] = "tile.position"() {{.*}} : () -> tensor<2xi64>
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[I]], %[[W]] : tensor<4xf32>, tensor<4xi64>, tensor<2xi64>)
func.func @places(%x: tensor<8xf32>, %most: tensor<4xf32>) -> tensor<4xi64> {
  %two = arith.constant 2 : index
  %start = arith.constant dense<-1> : tensor<4xi64>
  %window = tensor.empty() : tensor<2xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, w) -> (i)>, affine_map<(i, w) -> (w)>, affine_map<(i, w) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
         ins(%most, %window : tensor<4xf32>, tensor<2xi64>) outs(%start : tensor<4xi64>) {
  ^bb0(%v: f32, %unread: i64, %o: i64):
    %i = linalg.index 0 : index
    %w = linalg.index 1 : index
    %first = arith.muli %i, %two : index
    %place = arith.addi %first, %w : index
    %element = tensor.extract %x[%place] : tensor<8xf32>
    %is = arith.cmpf oeq, %element, %v : f32
    %number = arith.index_cast %place : index to i64
    %r = arith.select %is, %number, %o : i64
    linalg.yield %r : i64
  } -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
