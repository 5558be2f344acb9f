// group-rows: reductions by bodies that give the same in any order are rows, as sums are; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s group-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s group-rows group-rows | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// The largest by magnitude, the greater of 3 and -3, and a division by it are one kernel, and the note goes.
// CHECK-LABEL: func.func @largest(
//   CHECK-NOT:   tile.note
//       CHECK:   {{.*}}"reduction"]} ins({{.*}}) outs({{.*}}) attrs = {tile.kernel = 0 : i64}
//       CHECK:     arith.select
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:     arith.divf
func.func @largest(%A: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %all = tensor.empty() : tensor<4x6xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>)
      attrs = {tile.kernel = 0 : i64, tile.note = "one thread"} {
  ^bb0(%x: f32, %a: f32):
    %p = arith.maximumf %a, %x : f32
    %q = arith.minimumf %a, %x : f32
    %n = arith.negf %q : f32
    %t = arith.cmpf oge, %p, %n : f32
    %r = arith.select %t, %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s : tensor<4x6xf32>, tensor<4xf32>) outs(%all : tensor<4x6xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.divf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %q : tensor<4x6xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// A product of complex numbers, two results of two values, and its squared magnitude.
// CHECK-LABEL: func.func @complex_product(
//   CHECK-NOT:   tile.note
//       CHECK:   {{.*}}"reduction"]} ins({{.*}}) outs({{.*}}) attrs = {tile.kernel = 0 : i64}
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
func.func @complex_product(%A: tensor<4x6xf32>, %B: tensor<4x6xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %r0 = linalg.fill ins(%one : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s:2 = linalg.generic {indexing_maps = [#mn, #mn, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A, %B : tensor<4x6xf32>, tensor<4x6xf32>) outs(%r0, %r1 : tensor<4xf32>, tensor<4xf32>)
      attrs = {tile.kernel = 0 : i64, tile.note = "one thread"} {
  ^bb0(%x: f32, %y: f32, %a: f32, %b: f32):
    %p = arith.mulf %a, %x : f32
    %q = arith.mulf %b, %y : f32
    %re = arith.subf %p, %q : f32
    %t = arith.mulf %a, %y : f32
    %u = arith.mulf %b, %x : f32
    %im = arith.addf %t, %u : f32
    linalg.yield %re, %im : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %z = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%s#0, %s#1 : tensor<4xf32>, tensor<4xf32>) outs(%row : tensor<4xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %x : f32
    %q = arith.mulf %y, %y : f32
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}
