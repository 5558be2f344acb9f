// name-sizes puts primes in the place of dynamic sizes: one for each symbol, and products of them.
// RUN: mlir-gemm opt --split-input-file %s name-sizes | FileCheck %s

// A product of any rows: M is one symbol in the operand, in the buffers and in the result.
// CHECK: tile.stand_ins = {s0 = [[S0:[0-9]+]] : i64}
// CHECK: func.func @rows(%{{.*}}: tensor<[[S0]]x24xf16>, %{{.*}}: tensor<24x40xf16>) -> tensor<[[S0]]x40xf32>
// CHECK-NOT: tensor.dim
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<[[S0]]x40xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<[[S0]]x40xf32>)
// CHECK: return %{{.*}} : tensor<[[S0]]x40xf32>
func.func @rows(%A: tensor<?x24xf16>, %B: tensor<24x40xf16>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %A, %c0 : tensor<?x24xf16>
  %e = tensor.empty(%m) : tensor<?x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x40xf32>) -> tensor<?x40xf32>
  %p = linalg.matmul ins(%A, %B : tensor<?x24xf16>, tensor<24x40xf16>) outs(%f : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %p : tensor<?x40xf32>
}

// -----

// Sizes that an operation requires to be equal are one symbol; the check of it that torch-mlir writes goes.
// CHECK: tile.stand_ins = {s0 = [[M:[0-9]+]] : i64, s1 = [[K:[0-9]+]] : i64, s2 = [[N:[0-9]+]] : i64}
// What the check says is kept for the call that breaks it.
// CHECK: func.func @all(%{{.*}}: memref<[[M]]x[[K]]xf16> {tile.checks = ["", "mismatching contracting dimension"]}, %{{.*}}: memref<[[K]]x[[N]]xf16> {tile.checks = ["mismatching contracting dimension", ""]}, %{{.*}}: memref<[[M]]x[[N]]xf32>)
// CHECK-NOT: cf.assert
func.func @all(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.dim %A, %c1 : memref<?x?xf16>
  %same = memref.dim %B, %c0 : memref<?x?xf16>
  %ok = arith.cmpi eq, %k, %same : index
  cf.assert %ok, "mismatching contracting dimension"
  linalg.matmul ins(%A, %B : memref<?x?xf16>, memref<?x?xf16>) outs(%C : memref<?x?xf32>)
  return
}

// -----

// A reshape multiplies; what is known of a size by a cast puts a number in its place.
// CHECK: tile.stand_ins = {s0 = [[S0:[0-9]+]] : i64}
// CHECK: func.func @reshaped(%[[X:.*]]: tensor<[[S0]]x5x24xf16>, %{{.*}}: tensor<24xf16>)
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<[[S0]]x5x24xf16> into tensor<[[FIVE:[0-9]+]]x24xf16>
// CHECK: tensor.empty() : tensor<[[FIVE]]x24xf16>
// CHECK: tensor.expand_shape %{{.*}} output_shape {{\[}}[[S0]], 5, 24] : tensor<[[FIVE]]x24xf16> into tensor<[[S0]]x5x24xf16>
func.func @reshaped(%x: tensor<?x5x24xf16>, %scale: tensor<?xf16>) -> tensor<?x5x24xf16> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?x5x24xf16>
  %rows = arith.muli %n, %c5 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x5x24xf16> into tensor<?x24xf16>
  %known = tensor.cast %scale : tensor<?xf16> to tensor<24xf16>
  %e = tensor.empty(%rows) : tensor<?x24xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%flat, %known : tensor<?x24xf16>, tensor<24xf16>) outs(%e : tensor<?x24xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %d = arith.mulf %a, %b : f16
    linalg.yield %d : f16
  } -> tensor<?x24xf16>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 5, 24] : tensor<?x24xf16> into tensor<?x5x24xf16>
  return %r : tensor<?x5x24xf16>
}

// -----

// Constant sizes are left alone.
// CHECK-NOT: tile.stand_ins
// CHECK: linalg.matmul
func.func @constant(%A: memref<16x24xf16>, %B: memref<24x8xf16>, %C: memref<16x8xf32>) {
  linalg.matmul ins(%A, %B : memref<16x24xf16>, memref<24x8xf16>) outs(%C : memref<16x8xf32>)
  return
}

// -----

// A slice whose open size is computed (t * 2 / 2), a body that converts a size to an index, and views that are the same
// only where two sizes of arguments are: t of %x and t of %y are one symbol.
// CHECK-LABEL: func.func @slice_of_a_computed_size(
//  CHECK-SAME:   %{{.*}}: tensor<4x[[T:[0-9]+]]x8xf32>
//  CHECK-SAME:   %{{.*}}: tensor<[[T]]x8xf32>
//       CHECK:   tensor.extract_slice %{{.*}}[0, 0, 0] [4, [[T]], 4] [1, 1, 1]
//   CHECK-NOT:   arith.index_cast
//       CHECK:   tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<[[T]]x8xf32>
module {
  func.func @slice_of_a_computed_size(%x: tensor<4x?x8xf32>, %y: tensor<?x8xf32>)
      -> (tensor<4x?x4xf32>, tensor<?x8xf32>, tensor<?x2x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n2 = arith.constant 2 : i64
    %n4 = arith.constant 4 : i64
    %t = tensor.dim %x, %c1 : tensor<4x?x8xf32>
    %twice = arith.muli %t, %c2 : index
    %again = arith.divsi %twice, %c2 : index
    %half = tensor.extract_slice %x[0, 0, 0] [4, %again, 4] [1, 1, 1] : tensor<4x?x8xf32> to tensor<4x?x4xf32>
    %long = arith.index_cast %t : index to i64
    %e = tensor.empty(%t) : tensor<?x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
           outs(%e : tensor<?x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %size = arith.index_cast %long : i64 to index
      %one = arith.cmpi eq, %size, %c1 : index
      %at = arith.select %one, %c0, %i : index
      %v = tensor.extract %y[%at, %j] : tensor<?x8xf32>
      linalg.yield %v : f32
    } -> tensor<?x8xf32>
    %shape = tensor.from_elements %long, %n2, %n4 : tensor<3xi64>
    %view = tensor.reshape %y(%shape) : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
    return %half, %0, %view : tensor<4x?x4xf32>, tensor<?x8xf32>, tensor<?x2x4xf32>
  }
}

// -----

// A size that elements are computed with is an operand: a number that the call knows.
// CHECK: func.func @mean(%[[A:.*]]: tensor<4x[[S0:[0-9]+]]xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[N:.*]] = "tile.position"() {{.*}}size = "s0"} : () -> tensor<i64>
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[N]] : tensor<4xf32>, tensor<i64>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SIZE:.*]]: i64, %{{.*}}: f32):
// CHECK: %[[COUNT:.*]] = arith.sitofp %[[SIZE]] : i64 to f32
// CHECK: arith.divf %[[X]], %[[COUNT]] : f32
func.func @mean(%A: tensor<4x?xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c1 : tensor<4x?xf32>
  %i = arith.index_cast %n : index to i64
  %x = arith.sitofp %i : i64 to f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%B : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %a, %x : f32
    linalg.yield %d : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A sum of sizes is a symbol that says what it is; what the program leaves out of a size, that has to be there.
// CHECK: tile.stand_ins = {"(s0+s1)" = [[SUM:[0-9]+]] : i64, "(s0-1)" = [[REST:[0-9]+]] : i64, "(s0//2)" = [[HALF:[0-9]+]] : i64, s0 = [[S0:[0-9]+]] : i64, s1 = [[S1:[0-9]+]] : i64}
// CHECK: func.func @sums(%{{.*}}: tensor<[[S0]]xf32> {tile.least = ["1"]}, %{{.*}}: tensor<[[S1]]xf32>, %{{.*}}: tensor<[[SUM]]xf32>) -> (tensor<[[SUM]]xf32>, tensor<[[REST]]xf32>, tensor<[[HALF]]xf32>)
func.func @sums(%A: tensor<?xf32>, %B: tensor<?xf32>, %C: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a = tensor.dim %A, %c0 : tensor<?xf32>
  %b = tensor.dim %B, %c0 : tensor<?xf32>
  %sum = arith.addi %a, %b : index
  %e = tensor.empty(%sum) : tensor<?xf32>
  %r = linalg.exp ins(%C : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %less = arith.subi %a, %c1 : index
  %some = arith.maxsi %less, %c0 : index
  %m = tensor.empty(%some) : tensor<?xf32>
  %g = linalg.fill ins(%zero : f32) outs(%m : tensor<?xf32>) -> tensor<?xf32>
  %half = arith.floordivsi %a, %c2 : index
  %h = tensor.empty(%half) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%h : tensor<?xf32>) -> tensor<?xf32>
  return %r, %g, %f : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// A slice that is a view stays one. It lies in its tensor for the numbers that stand for the sizes too, and a call is
// required to have as many elements as the slice takes.
// CHECK: tile.stand_ins = {{{.*}}s1 = [[S1:[0-9]+]] : i64
// CHECK: func.func @views(%[[X:.*]]: tensor<[[S0:.*]]x[[S1]]xf16> {tile.least = ["", "4105"]})
// CHECK: tensor.extract_slice %[[X]][0, 9] {{\[}}[[S0]], 4096] [1, 1] : tensor<[[S0]]x[[S1]]xf16> to tensor<[[S0]]x4096xf16>
func.func @views(%x: tensor<?x?xf16>) -> tensor<?x4096xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf16>
  %s = tensor.extract_slice %x[0, 9] [%n, 4096] [1, 1] : tensor<?x?xf16> to tensor<?x4096xf16>
  return %s : tensor<?x4096xf16>
}

// -----

// As many rows of a table as a size says: the size is at most the table's, and a smaller prime stands for it.
// CHECK: tile.stand_ins = {s0 = 509 : i64}
// CHECK: func.func @table(%{{.*}}: tensor<509xf16> {tile.most = ["512"]}, %{{.*}}: tensor<512x8xf16>) -> tensor<509x8xf16>
func.func @table(%x: tensor<?xf16>, %t: tensor<512x8xf16>) -> tensor<?x8xf16> {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %n = tensor.dim %x, %c0 : tensor<?xf16>
  %m = arith.minsi %n, %c512 : index
  %s = tensor.extract_slice %t[0, 0] [%m, 8] [1, 1] : tensor<512x8xf16> to tensor<?x8xf16>
  return %s : tensor<?x8xf16>
}

// -----

// The last row of each block of rows is a view too: it starts at an aligned address for all sizes, and the prime that
// stands for what is less than a size is below that of the size.
// CHECK: tile.stand_ins = {"(s1-1)" = [[LAST:[0-9]+]] : i64, s0 = [[S0:[0-9]+]] : i64, s1 = [[S1:[0-9]+]] : i64}
// CHECK: func.func @last(%[[X:.*]]: tensor<[[S0]]x[[S1]]x8xf16> {tile.least = ["", "1", ""]})
// CHECK: tensor.extract_slice %[[X]][0, [[LAST]], 0] {{\[}}[[S0]], 1, 8] [1, 1, 1]
func.func @last(%x: tensor<?x?x8xf16>) -> tensor<?x1x8xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x8xf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x8xf16>
  %less = arith.subi %t, %c1 : index
  %at = arith.maxsi %less, %c0 : index
  %s = tensor.extract_slice %x[0, %at, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x?x8xf16> to tensor<?x1x8xf16>
  return %s : tensor<?x1x8xf16>
}
