// group-rows leaves alone what is no reduction along rows; it has one option.
// RUN: mlir-gemm opt --split-input-file %s group-rows | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'group-rows{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'group-rows' has no option 'most' (options: grid)

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// A difference has no neutral element, and its order matters: it stays an elementwise kernel, with its note.
// CHECK-LABEL: func.func @difference(
//       CHECK:   attrs = {tile.kernel = 0 : i64, tile.note = "this reduction is no product"}
//       CHECK:   attrs = {tile.cuts = {"0" = "each of its elements is added up by one thread before it is read"}, tile.kernel = 1 : i64}
func.func @difference(%A: tensor<4x6xf32>, %R: tensor<4xf32>) -> tensor<4xf32> {
  %row = tensor.empty() : tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%R : tensor<4xf32>)
      attrs = {tile.kernel = 0 : i64, tile.note = "this reduction is no product"} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.subf %a, %x : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%row : tensor<4xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.sqrt %x : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>

// Elementwise kernels alone make no rows.
// CHECK-LABEL: func.func @elementwise(
//       CHECK:   attrs = {tile.kernel = 0 : i64}
//       CHECK:   attrs = {tile.kernel = 1 : i64}
func.func @elementwise(%A: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.exp %x : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.absf %x : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %s, %t : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// The first of the largest by magnitude: of 3 and -3 the one that comes first, so the order matters.
// CHECK-LABEL: func.func @first_largest(
//       CHECK:   attrs = {tile.kernel = 0 : i64, tile.note = "one thread"}
func.func @first_largest(%A: tensor<4x6xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>)
      attrs = {tile.kernel = 0 : i64, tile.note = "one thread"} {
  ^bb0(%x: f32, %a: f32):
    %p = math.absf %x : f32
    %q = math.absf %a : f32
    %t = arith.cmpf ogt, %p, %q : f32
    %r = arith.select %t, %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Welford's update has three results and one value, which is no combination of two triples.
// CHECK-LABEL: func.func @welford(
//       CHECK:   attrs = {tile.kernel = 0 : i64, tile.note = "one thread"}
func.func @welford(%A: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s:3 = linalg.generic {indexing_maps = [#mn, #m, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0, %r0, %r0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      attrs = {tile.kernel = 0 : i64, tile.note = "one thread"} {
  ^bb0(%x: f32, %n: f32, %mean: f32, %squares: f32):
    %one = arith.constant 1.0 : f32
    %count = arith.addf %n, %one : f32
    %d = arith.subf %x, %mean : f32
    %part = arith.divf %d, %count : f32
    %new = arith.addf %mean, %part : f32
    %e = arith.subf %x, %new : f32
    %p = arith.mulf %d, %e : f32
    %sum = arith.addf %squares, %p : f32
    linalg.yield %count, %new, %sum : f32, f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %s#0, %s#1, %s#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
