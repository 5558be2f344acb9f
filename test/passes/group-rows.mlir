// group-rows: kernels that work along the same rows become one; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s group-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s group-rows group-rows | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// A softmax as group-kernels leaves it, a kernel for each step: the maximum, the power of each difference, their sum
// and the quotient are one kernel, and the notes that said why they were several go.
// CHECK-LABEL: func.func @softmax(
//   CHECK-NOT:   tile.note
//       CHECK:   {{.*}}"reduction"]} ins({{.*}}) outs({{.*}}) attrs = {tile.kernel = 0 : i64}
//       CHECK:     arith.maximumf
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:     math.exp
//       CHECK:   {{.*}}"reduction"]} ins({{.*}}) outs({{.*}}) attrs = {tile.kernel = 0 : i64}
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:     arith.divf
func.func @softmax(%A: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %all = tensor.empty() : tensor<4x6xf32>
  %r0 = linalg.fill ins(%least : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %most = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) attrs = {tile.kernel = 0 : i64, tile.note = "this reduction is no product"} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maximumf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %e = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %most : tensor<4x6xf32>, tensor<4xf32>) outs(%all : tensor<4x6xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<4x6xf32>) outs(%r1 : tensor<4xf32>) attrs = {tile.kernel = 2 : i64, tile.note = "this reduction is no product"} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<4x6xf32>, tensor<4xf32>) outs(%all : tensor<4x6xf32>) attrs = {tile.kernel = 3 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.divf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %q : tensor<4x6xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Sums of rows and of columns of one matrix are two kernels: no loop of one runs along what the other's does.
// CHECK-LABEL: func.func @both_ways(
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:   {{.*}}tile.kernel = 1 : i64}
func.func @both_ways(%A: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %column = tensor.empty() : tensor<6xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%column : tensor<6xf32>) -> tensor<6xf32>
  %t = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%c0 : tensor<6xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  return %s, %t : tensor<4xf32>, tensor<6xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Two sums of the same rows, of which neither reads the other: one kernel reads the matrix once.
// CHECK-LABEL: func.func @side_by_side(
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
func.func @side_by_side(%A: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %a: f32):
    %v = math.absf %x : f32
    %r = arith.maximumf %v, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#p = affine_map<(m, n, k) -> (m, n)>

// A sum before a product and a factor after it: the product lies between, so the factor stays with it.
// CHECK-LABEL: func.func @around_a_product(
//       CHECK:   {{.*}}attrs = {tile.kernel = 0 : i64}
//       CHECK:   linalg.matmul {tile.cuts = {"0" = "it is read after the product, with the elements of the result"}, tile.kernel = 1 : i64}
//       CHECK:   {{.*}}tile.kernel = 1 : i64}
func.func @around_a_product(%A: tensor<4x6xf32>, %B: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4xf32>
  %all = tensor.empty() : tensor<4x6xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%r0 : tensor<4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %p0 = linalg.fill ins(%zero : f32) outs(%all : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul {tile.kernel = 1 : i64} ins(%A, %B : tensor<4x6xf32>, tensor<6x6xf32>)
      outs(%p0 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<4x6xf32>, tensor<4xf32>) outs(%all : tensor<4x6xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %r = arith.mulf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>
  return %q : tensor<4x6xf32>
}

// -----

#n = affine_map<(n) -> (n)>
#one = affine_map<(n) -> ()>

// One row that no cluster of blocks holds: a kernel for each step, but what has no element for each of the row's joins.
// CHECK-LABEL: func.func @one_long_row(
//       CHECK:   {{.*}}["reduction"]} {{.*}} attrs = {tile.kernel = 0 : i64
//       CHECK:   {{.*}}["parallel"]} {{.*}} attrs = {tile.cuts = {"0" = "rows are few and long: all SMs work on each step"}, tile.kernel = 1 : i64
//       CHECK:   {{.*}}["reduction"]} {{.*}}tile.kernel = 2 : i64
func.func @one_long_row(%A: tensor<600000xf32>) -> tensor<f32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<f32>
  %all = tensor.empty() : tensor<600000xf32>
  %r0 = linalg.fill ins(%least : f32) outs(%row : tensor<f32>) -> tensor<f32>
  %most = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
      ins(%A : tensor<600000xf32>) outs(%r0 : tensor<f32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maximumf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e = linalg.generic {indexing_maps = [#n, #one, #n], iterator_types = ["parallel"]}
      ins(%A, %most : tensor<600000xf32>, tensor<f32>) outs(%all : tensor<600000xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<600000xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
      ins(%e : tensor<600000xf32>) outs(%r1 : tensor<f32>) attrs = {tile.kernel = 2 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

#n = affine_map<(n) -> (n)>
#one = affine_map<(n) -> ()>

// A row of a size known at run time only is not divided among SMs, so its steps are one kernel.
// CHECK-LABEL: func.func @one_open_row(
//       CHECK:   {{.*}}["reduction"]} {{.*}}tile.kernel = 0 : i64
//       CHECK:   {{.*}}["parallel"]} {{.*}}tile.kernel = 0 : i64
//       CHECK:   {{.*}}["reduction"]} {{.*}}tile.kernel = 0 : i64
module attributes {tile.stand_ins = {s0 = 1000003 : i64}} {
  func.func @one_open_row(%A: tensor<1000003xf32>) -> tensor<f32> {
    %least = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %row = tensor.empty() : tensor<f32>
    %all = tensor.empty() : tensor<1000003xf32>
    %r0 = linalg.fill ins(%least : f32) outs(%row : tensor<f32>) -> tensor<f32>
    %most = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
        ins(%A : tensor<1000003xf32>) outs(%r0 : tensor<f32>) attrs = {tile.kernel = 0 : i64} {
    ^bb0(%x: f32, %a: f32):
      %r = arith.maximumf %x, %a : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %e = linalg.generic {indexing_maps = [#n, #one, #n], iterator_types = ["parallel"]}
        ins(%A, %most : tensor<1000003xf32>, tensor<f32>) outs(%all : tensor<1000003xf32>) attrs = {tile.kernel = 1 : i64} {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
    } -> tensor<1000003xf32>
    %r1 = linalg.fill ins(%zero : f32) outs(%row : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#n, #one], iterator_types = ["reduction"]}
        ins(%e : tensor<1000003xf32>) outs(%r1 : tensor<f32>) attrs = {tile.kernel = 2 : i64} {
    ^bb0(%x: f32, %a: f32):
      %r = arith.addf %x, %a : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    return %sum : tensor<f32>
  }
}
