// tensorize-rows, where blocks take tiles of rows in turn.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,128 persistent=3}' cse | FileCheck %s
// RUN: not mlir-gemm opt %s 'tensorize-rows{tile=1,64 persistent=3}' 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: not mlir-gemm opt %s 'tensorize-rows{tile=1,128 persistent=3 shift=4}' 2>&1 | FileCheck %s --check-prefix=SHIFT

// PASSES: error: persistent=3; expected tiles that hold whole rows of one loop of a constant size
// SHIFT: error: persistent=3; expected tiles that hold whole rows

// The weight is loaded once; the next row before a row is computed, and of the last one the same again.
// CHECK-LABEL: func.func @scale(
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (3) {
//       CHECK:     %[[W:.*]] = "tile.load"(%arg1, %c0)
//       CHECK:     %[[FIRST:.*]] = "tile.load"(%arg0, %[[BLOCK]], %c0) {in_bounds = array<i1: true, false>
//       CHECK:     scf.for %[[ROW:.*]] = %[[BLOCK]] to %c10 step %c3 iter_args(%[[A:.*]] = %[[FIRST]]) -> (vector<1x128xf32>) {
//       CHECK:       %[[MORE:.*]] = arith.addi %[[ROW]], %c3
//       CHECK:       %[[NEXT:.*]] = arith.minui %[[MORE]], %c9
//       CHECK:       %[[B:.*]] = "tile.load"(%arg0, %[[NEXT]], %c0) {in_bounds = array<i1: true, false>
//   CHECK-NOT:       "tile.load"
//       CHECK:       "tile.clip"(%[[A]]
//       CHECK:       "tile.reduce"
//       CHECK:       arith.mulf %{{.*}}, %[[W]]
//       CHECK:       "tile.store"(%{{.*}}, %arg2, %[[ROW]], %c0)
//       CHECK:       scf.yield %[[B]]
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @scale(%A: memref<10x100xf32> {tile.role = "in"}, %W: memref<100xf32> {tile.role = "in"}, %R: memref<10x100xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
  %zero = arith.constant -0.0 : f32
  %sum = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%A : memref<10x100xf32>) outs(%sum : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %sum, %W : memref<10x100xf32>, memref<10xf32>, memref<100xf32>) outs(%R : memref<10x100xf32>) {
  ^bb0(%x: f32, %s: f32, %w: f32, %o: f32):
    %q = arith.divf %x, %s : f32
    %r = arith.mulf %q, %w : f32
    linalg.yield %r : f32
  }
  return
}
