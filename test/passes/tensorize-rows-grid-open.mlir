// tensorize-rows, where blocks of the grid share rows whose number and length are known at run time only: always the same
// number of blocks, in groups, each of which goes over every third row, with two lines of words by turns.
// RUN: mlir-gemm opt %s share-sizes 'tensorize-rows{tile=1,32 grid=4 groups=3}' cse | FileCheck %s
// RUN: mlir-gemm opt %s share-sizes 'tensorize-rows{tile=1,32 grid=4 groups=3}' 'tensorize-rows{tile=1,32 grid=4 groups=3}' cse | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @norm(
//       CHECK:   %[[ROWS:.*]] = memref.dim %arg0, %c0
//       CHECK:   %[[WORDS:.*]] = memref.alloc() {tile.scratch = "words"} : memref<6x4x1xi64>
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (12) {
//       CHECK:     %[[GROUP:.*]] = arith.divui %[[BLOCK]], %c4
//       CHECK:     %[[RANK:.*]] = arith.remui %[[BLOCK]], %c4
//       CHECK:     scf.for %[[ROW:.*]] = %[[GROUP]] to %[[ROWS]] step %c3 {
//       CHECK:       %[[TURN:.*]] = arith.remui %{{.*}}, %c2
//       CHECK:       %[[LINE:.*]] = arith.addi %{{.*}}, %[[TURN]]
//       CHECK:       scf.for
//       CHECK:         "tile.load"(%arg0, %[[ROW]]
//       CHECK:       "tile.grid_reduce"(%[[WORDS]], %[[LINE]], %[[RANK]],
//       CHECK:       scf.for
//       CHECK:         "tile.load"(%arg0, %[[ROW]]
//       CHECK:         "tile.store"(
//       CHECK:   {mapping = [#gpu.block<x>], tile.cooperative = 4 : i64}
func.func @norm(%A: memref<?x?xf32> {tile.symbols = ["s0", "s1"]}, %R: memref<?x?xf32> {tile.symbols = ["s0", "s1"]}) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %s = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<?xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<?x?xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%x: f32, %a: f32):
    %q = arith.mulf %x, %x : f32
    %r = arith.addf %q, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s : memref<?x?xf32>, memref<?xf32>) outs(%R : memref<?x?xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %f = math.rsqrt %t : f32
    %g = arith.mulf %x, %f : f32
    linalg.yield %g : f32
  }
  return
}
