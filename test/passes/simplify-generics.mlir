// simplify-generics: operands, results and loop orders that a generic does not need go away; a second run changes nothing.
// RUN: mlir-gemm opt %s simplify-generics | FileCheck %s
// RUN: mlir-gemm opt %s simplify-generics simplify-generics | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#swap = affine_map<(i, j) -> (j, i)>
#none = affine_map<(i, j) -> ()>

// Scalars, fills and splats stand in the body, an output that is not read is a tensor.empty, unused inputs go.
// CHECK-LABEL: func.func @operands(
//  CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<4x6xf32>, %[[B:[a-z0-9]*]]: tensor<4x6xf32>
//   CHECK-DAG:   %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
//   CHECK-DAG:   %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
//       CHECK:   %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[A]] : tensor<4x6xf32>) outs(%[[EMPTY]] : tensor<4x6xf32>)
//       CHECK:     %[[P:.*]] = arith.mulf %in, %[[TWO]]
//       CHECK:     %[[Q:.*]] = arith.addf %[[P]], %[[THREE]]
//       CHECK:     linalg.yield %[[Q]]
func.func @operands(%A: tensor<4x6xf32>, %B: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %filled = linalg.fill ins(%two : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %three = arith.constant dense<3.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %filled, %three, %B : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xf32>, tensor<4x6xf32>)
      outs(%B : tensor<4x6xf32>) {
  ^bb0(%a: f32, %f: f32, %t: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %f : f32
    %q = arith.addf %p, %t : f32
    linalg.yield %q : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// The position of a maximum that nobody uses goes, and with it linalg.index.
// CHECK-LABEL: func.func @results(
//   CHECK-NOT:   linalg.index
//       CHECK:   %[[M:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf32>) outs(%arg1 : tensor<4xf32>)
//       CHECK:     arith.maximumf
//  CHECK-NEXT:     linalg.yield %{{.*}} : f32
//       CHECK:   return %[[M]]
func.func @results(%x: tensor<4x6xf32>, %m: tensor<4xf32>, %p: tensor<4xi64>) -> tensor<4xf32> {
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>) outs(%m, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %max: f32, %at: i64):
    %j = linalg.index 1 : index
    %position = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %in, %max : f32
    %where = arith.select %more, %position, %at : i64
    %larger = arith.maximumf %in, %max : f32
    linalg.yield %larger, %where : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0 : tensor<4xf32>
}

// What only writes a scalar is a fill.
// CHECK-LABEL: func.func @fill(
//       CHECK:   %[[ZERO:.*]] = arith.constant 0.0
//       CHECK:   linalg.fill ins(%[[ZERO]] : f32)
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @fill() -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// Loops run in the order of the output's dimensions.
// CHECK-LABEL: func.func @order(
//       CHECK:   linalg.generic {indexing_maps = [#[[SWAP]], #[[ID]]]
func.func @order(%A: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #swap], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
