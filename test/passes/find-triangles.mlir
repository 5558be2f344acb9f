// find-triangles: a product says where its operands are zero; a second run changes nothing.
// RUN: mlir-gemm opt %s find-triangles | FileCheck %s
// RUN: mlir-gemm opt %s find-triangles find-triangles | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#at = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, n, k) -> (m)>
#depth = affine_map<(m, n, k) -> (k)>

// Element where the row is not before the column, else zero.
// CHECK-LABEL: func.func @tril(
//  CHECK-SAME:   attributes {tile.zeros = "k>m"}
func.func @tril(%A: memref<64x64xf32>, %B: memref<64x32xf32>, %D: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  linalg.generic {indexing_maps = [#a, #row, #depth, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %p, %p, %B : memref<64x64xf32>, memref<64xi64>, memref<64xi64>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %b: f32, %c: f32):
    %in = arith.cmpi sge, %i, %j : i64
    %x = arith.select %in, %a, %zero : f32
    %t = arith.mulf %x, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// Zero where the column is before the row.
// CHECK-LABEL: func.func @triu(
//  CHECK-SAME:   attributes {tile.zeros = "k<m"}
func.func @triu(%A: memref<64x64xf32>, %B: memref<64x32xf32>, %D: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  linalg.generic {indexing_maps = [#a, #row, #depth, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %p, %p, %B : memref<64x64xf32>, memref<64xi64>, memref<64xi64>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %b: f32, %c: f32):
    %out = arith.cmpi slt, %j, %i : i64
    %x = arith.select %out, %zero, %a : f32
    %t = arith.mulf %x, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// A promise; the matrix is read transposed, so that what is above its diagonal lies before it in A.
// CHECK-LABEL: func.func @promised(
//  CHECK-SAME:   attributes {tile.zeros = "k<m"}
func.func @promised(%A: memref<64x64xf32> {tile.triangular = "lower"}, %B: memref<64x32xf32>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#at, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x64xf32>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// B, on the right.
// CHECK-LABEL: func.func @right(
//  CHECK-SAME:   attributes {tile.zeros = "k>n"}
func.func @right(%A: memref<32x64xf32>, %B: memref<64x64xf32> {tile.triangular = "upper"}, %D: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<32x64xf32>, memref<64x64xf32>) outs(%D : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// A band, which a comparison for equality makes, and one that is not zero elsewhere: none of these.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT:   tile.zeros
func.func @others(%A: memref<64x64xf32>, %B: memref<64x32xf32>, %D: memref<64x32xf32>) {
  %one = arith.constant 1.0 : f32
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  linalg.generic {indexing_maps = [#a, #row, #depth, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %p, %p, %B : memref<64x64xf32>, memref<64xi64>, memref<64xi64>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %b: f32, %c: f32):
    %in = arith.cmpi sge, %i, %j : i64
    %x = arith.select %in, %a, %one : f32
    %t = arith.mulf %x, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// A band, by promise: `below` diagonals and `above` ones. B is read as (k, n), so that its rows are k.
// CHECK-LABEL: func.func @band(
//  CHECK-SAME:   attributes {tile.zeros = "k>m+3, k<m-8, k<n-1, k>n+2"}
func.func @band(%A: memref<64x64xf32> {tile.banded = array<i64: 8, 3>}, %B: memref<64x64xf32> {tile.banded = array<i64: 2, 1>}, %D: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x64xf32>, memref<64x64xf32>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// Blocks along the diagonal, and a list of blocks.
// CHECK-LABEL: func.func @blocks(
//  CHECK-SAME:   attributes {tile.zeros = "k/16!=m/32, k/32 not in n/8: 2 0 1"}
func.func @blocks(%A: memref<64x64xf32> {tile.block_diagonal = array<i64: 32, 16>}, %B: memref<64x32xf32> {tile.blocks = {size = array<i64: 32, 8>, rows = array<i64: 0, 1>, columns = array<i64: 2, 0>}}, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x64xf32>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// Comparisons: a band by the distance of positions, of which the main diagonal and two on each side are kept, in blocks.
// CHECK-LABEL: func.func @compared(
//  CHECK-SAME:   attributes {tile.zeros = "k<m-2, k>m+2, k/16!=m/32"}
func.func @compared(%A: memref<64x64xf32>, %B: memref<64x32xf32>, %D: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : i64
  %sixteen = arith.constant 16 : i64
  %five = arith.constant 5 : i64
  %p = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<64xi64>
  linalg.generic {indexing_maps = [#a, #row, #depth, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %p, %p, %B : memref<64x64xf32>, memref<64xi64>, memref<64xi64>, memref<64x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %i: i64, %j: i64, %b: f32, %c: f32):
    %apart = arith.subi %i, %j : i64
    %far = math.absi %apart : i64
    %near = arith.cmpi sle, %far, %two : i64
    %blocks = arith.divsi %j, %sixteen : i64
    %rows = arith.shrui %i, %five : i64
    %same = arith.cmpi eq, %blocks, %rows : i64
    %in = arith.andi %near, %same : i1
    %x = arith.select %in, %a, %zero : f32
    %t = arith.mulf %x, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}
