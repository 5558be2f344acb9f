// normalise-kernels: loops [batch..., m, n, k] and views that go with them; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s normalise-kernels | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s normalise-kernels normalise-kernels | FileCheck %s

// Two m dimensions become one; the result lies with m innermost, so A and B change their parts: 42 columns for B.
//  CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
//  CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
//  CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
//      CHECK: func.func @merged(%[[A:.*]]: memref<8x5xf32>, %[[B:.*]]: memref<42x5xf32>, %[[C:.*]]: memref<8x42xf32>) {
//      CHECK:   linalg.fill ins({{.*}}) outs(%[[C]] : memref<8x42xf32>)
//      CHECK:   linalg.generic {indexing_maps = [#[[MK]], #[[NK]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:     ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT:   ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[Z:.*]]: f32):
// CHECK-NEXT:     %[[P:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT:     arith.addf %[[Z]], %[[P]]
module @program {
  module @merged {
    func.func @merged(%A: memref<6x7x5xf32>, %B: memref<8x5xf32>, %C: memref<8x6x7xf32>) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%C : memref<8x6x7xf32>)
      linalg.generic {indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (n, k)>,
                                       affine_map<(i, j, n, k) -> (n, i, j)>],
                      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%A, %B : memref<6x7x5xf32>, memref<8x5xf32>) outs(%C : memref<8x6x7xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}

// -----

// Rows in two groups with a gap between them: the groups become a batch, which B does not have. The main function's
// buffers go where they went.
//  CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
//      CHECK: func.func @main(%[[A:.*]]: memref<2x3x4xf32, strided<[100, 4, 1]>>, %[[B:.*]]: memref<4x5xf32>, %[[C:.*]]: memref<2x3x5xf32>)
//      CHECK:   %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
//      CHECK:   "tile.run"(%[[P]], %{{.*}}, %{{.*}}) {kernel = "gap"
//      CHECK: func.func @gap(%[[A:.*]]: memref<2x3x4xf32, strided<[100, 4, 1]>>, %[[B:.*]]: memref<4x5xf32>, %[[C:.*]]: memref<2x3x5xf32>) {
// CHECK-NEXT:   linalg.generic {indexing_maps = [{{.*}}, #[[KN]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] :
module {
  func.func @main(%A: memref<2x3x4xf32, strided<[100, 4, 1]>>, %B: memref<4x5xf32>, %C: memref<2x3x5xf32>) {
    %a = memref.extract_aligned_pointer_as_index %A : memref<2x3x4xf32, strided<[100, 4, 1]>> -> index
    %b = memref.extract_aligned_pointer_as_index %B : memref<4x5xf32> -> index
    %c = memref.extract_aligned_pointer_as_index %C : memref<2x3x5xf32> -> index
    "tile.run"(%b, %a, %c) {kernel = "gap", operandSegmentSizes = array<i32: 3>} : (index, index, index) -> ()
    return
  }
  module @gap {
    func.func @gap(%B: memref<4x5xf32>, %A: memref<2x3x4xf32, strided<[100, 4, 1]>>, %C: memref<2x3x5xf32>) {
      linalg.generic {indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>,
                                       affine_map<(i, j, n, k) -> (i, j, n)>],
                      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%A, %B : memref<2x3x4xf32, strided<[100, 4, 1]>>, memref<4x5xf32>) outs(%C : memref<2x3x5xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        linalg.yield %s : f32
      }
      return
    }
  }
}

// -----

// A matrix times a vector: n is of size 1. What follows has another shape, a scale for each of its outer rows, and so
// keeps them apart; the product's own buffer takes its shape from the loops.
//  CHECK-DAG: #[[OUTER:.*]] = affine_map<(d0, d1, d2) -> (d0)>
//      CHECK: func.func @vector(%[[A:.*]]: memref<2x3x4xf32>, %[[X:.*]]: memref<4x1xf32>, %[[S:.*]]: memref<2xf32>, %[[R:.*]]: memref<2x3x1xf32>) {
//      CHECK:   %[[D:.*]] = memref.alloc() : memref<2x3x1xf32>
//      CHECK:   linalg.fill {{.*}} outs(%[[D]] :
//      CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[X]] : {{.*}}) outs(%[[D]] :
//      CHECK:   linalg.generic {indexing_maps = [{{.*}}, #[[OUTER]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[D]], %[[S]] : {{.*}}) outs(%[[R]] :
module {
  module @vector {
    func.func @vector(%A: memref<6x4xf32>, %x: memref<4xf32>, %s: memref<2xf32>, %R: memref<2x3xf32>) {
      %zero = arith.constant 0.0 : f32
      %D = memref.alloc() : memref<6xf32>
      linalg.fill ins(%zero : f32) outs(%D : memref<6xf32>)
      linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
                      iterator_types = ["parallel", "reduction"]}
          ins(%A, %x : memref<6x4xf32>, memref<4xf32>) outs(%D : memref<6xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %c, %p : f32
        linalg.yield %t : f32
      }
      %V = memref.reinterpret_cast %D to offset: [0], sizes: [2, 3], strides: [3, 1]
          : memref<6xf32> to memref<2x3xf32, strided<[3, 1]>>
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                      iterator_types = ["parallel", "parallel"]}
          ins(%V, %s : memref<2x3xf32, strided<[3, 1]>>, memref<2xf32>) outs(%R : memref<2x3xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        linalg.yield %p : f32
      }
      return
    }
  }
}

// -----

// No product: parallel loops, merged where all operands allow it.
// CHECK: func.func @points(%[[A:.*]]: memref<24xf32>, %[[R:.*]]: memref<24xf32>) attributes {tile.kind = "elementwise"} {
// CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[A]] : {{.*}}) outs(%[[R]] :
module {
  module @points {
    func.func @points(%A: memref<4x6xf32>, %R: memref<4x6xf32>) attributes {tile.kind = "elementwise"} {
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                      iterator_types = ["parallel", "parallel"]}
          ins(%A : memref<4x6xf32>) outs(%R : memref<4x6xf32>) {
      ^bb0(%a: f32, %c: f32):
        %p = math.exp %a : f32
        linalg.yield %p : f32
      }
      return
    }
  }
}

// -----

// Rows: the loops of the rows come first, outermost in the result first, then those along a row; a matrix of which
// columns are added up is seen with them first.
// CHECK-LABEL: func.func @columns_0(
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
//       CHECK:     arith.addf
//       CHECK:   linalg.generic {{.*}}iterator_types = ["parallel"
func.func @columns(%A: memref<6x20xf32> {tile.role = "in"}, %R: memref<20xf32> {tile.role = "out"}) {
  %a = memref.extract_aligned_pointer_as_index %A : memref<6x20xf32> -> index
  %r = memref.extract_aligned_pointer_as_index %R : memref<20xf32> -> index
  "tile.run"(%a, %r) {kernel = "columns_0", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
  return
}
module @columns_0 {
  func.func @columns_0(%A: memref<6x20xf32>, %R: memref<20xf32>) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    %s = memref.alloc() : memref<20xf32>
    linalg.fill ins(%zero : f32) outs(%s : memref<20xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>],
                    iterator_types = ["reduction", "parallel"]} ins(%A : memref<6x20xf32>) outs(%s : memref<20xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
    }
    linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
        ins(%s : memref<20xf32>) outs(%R : memref<20xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = math.sqrt %x : f32
      linalg.yield %t : f32
    }
    return
  }
}

// -----

// A position that a body reads at a computed place is that place's number: there is no memory behind it.
//       CHECK: func.func @places(
//   CHECK-NOT:   memref.load
//       CHECK:   ^bb0(%[[I:.*]]: i64, %{{.*}}: i64):
//       CHECK:     %[[AT:.*]] = arith.index_cast %[[I]] : i64 to index
//       CHECK:     arith.muli %[[AT]], %c2
//   CHECK-NOT:   memref.load
module @program {
  module @places {
    func.func @places(%i: memref<4xi64>, %o: memref<4xi64>) attributes {tile.kind = "elementwise"} {
      %0 = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> memref<8xi64>
      %even = memref.reinterpret_cast %0 to offset: [0], sizes: [4], strides: [2] : memref<8xi64> to memref<4xi64, strided<[2]>>
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%i : memref<4xi64>) outs(%o : memref<4xi64>) {
      ^bb0(%a: i64, %c: i64):
        %at = arith.index_cast %a : i64 to index
        %v = memref.load %even[%at] : memref<4xi64, strided<[2]>>
        linalg.yield %v : i64
      }
      return
    }
  }
}
