// tensorize-rows, where any blocks of the grid share a row: they run at the same time, and a second run changes nothing.
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 grid=4}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,32 grid=4}' 'tensorize-rows{tile=1,32 grid=4}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'tensorize-rows{tile=1,16 grid=3 groups=2 staged=true front=1}' cse | FileCheck %s --check-prefix=TURNS

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Four blocks for each row: a block has the part of its rank, reduces it, and combines what all four have.
// CHECK-LABEL: func.func @norm(
//       CHECK:   %[[WORDS:.*]] = memref.alloc() {tile.scratch = "words"} : memref<10x4x1xi64>
//       CHECK:   scf.forall (%[[BLOCK:.*]]) in (40) {
//       CHECK:     %[[ROW:.*]] = arith.divui %[[BLOCK]], %c4
//       CHECK:     %[[RANK:.*]] = arith.remui %[[BLOCK]], %c4
//       CHECK:     %[[AT:.*]] = arith.muli %[[RANK]], %c32
//       CHECK:     "tile.load"(%arg0, %[[ROW]], %[[AT]]) {{.*}} -> vector<1x32xf32>
//       CHECK:     %[[OWN:.*]] = "tile.reduce"
//       CHECK:     {dim = 1 : i64, {{.*}} -> vector<1x1xf32>
//       CHECK:     %[[ALL:.*]] = "tile.grid_reduce"(%[[WORDS]], %[[ROW]], %[[RANK]], %[[OWN]]) ({
//       CHECK:       arith.addf
//       CHECK:       "tile.yield"
//       CHECK:     (memref<10x4x1xi64>, index, index, vector<1x1xf32>) -> vector<1x1xf32>
//       CHECK:     %[[SUM:.*]] = arith.addf %{{.*}}, %[[ALL]]
//       CHECK:     math.rsqrt %[[SUM]]
//   CHECK-NOT:     "tile.load"
//       CHECK:     "tile.store"
//       CHECK:   {mapping = [#gpu.block<x>], tile.cooperative = 4 : i64}

// Two rows at a time: a group of three blocks goes over every second row, with two lines of words by turns. A block holds
// its first tile, of the 48 elements that all three begin with; a loop goes over what is left.
// TURNS-LABEL: func.func @norm(
//       TURNS:   %[[WORDS:.*]] = memref.alloc() {tile.scratch = "words"} : memref<4x3x1xi64>
//       TURNS:   scf.forall (%[[BLOCK:.*]]) in (6) {
//       TURNS:     %[[GROUP:.*]] = arith.divui %[[BLOCK]], %c3
//       TURNS:     %[[RANK:.*]] = arith.remui %[[BLOCK]], %c3
//       TURNS:     scf.for %[[ROW:.*]] = %[[GROUP]] to %c10 step %c2 {
//       TURNS:       %[[FIRST:.*]] = arith.muli %[[GROUP]], %c2
//       TURNS:       %[[NUMBER:.*]] = arith.divui %[[ROW]], %c2
//       TURNS:       %[[TURN:.*]] = arith.remui %[[NUMBER]], %c2
//       TURNS:       %[[LINE:.*]] = arith.addi %[[FIRST]], %[[TURN]]
//       TURNS:       %[[HELD:.*]] = "tile.load"(%arg0, %[[ROW]], {{.*}} -> vector<1x16xf32>
//       TURNS:       scf.for %{{.*}} = %c0 to %c48 step %c48 iter_args
//       TURNS:         "tile.load"(%arg0
//       TURNS:         "tile.store"({{.*}}memref<1x32xf32, 3>
//       TURNS:       "tile.grid_reduce"(%[[WORDS]], %[[LINE]], %[[RANK]],
//       TURNS:       arith.mulf %[[HELD]]
//       TURNS:       "tile.store"({{.*}}memref<10x100xf32>
//       TURNS:       scf.for
//       TURNS:         "tile.load"({{.*}}memref<1x32xf32, 3>
//       TURNS:   {mapping = [#gpu.block<x>], tile.cooperative = 3 : i64}
func.func @norm(%A: memref<10x100xf32>, %R: memref<10x100xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<10xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<10xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<10x100xf32>) outs(%s : memref<10xf32>) {
  ^bb0(%x: f32, %a: f32):
    %q = arith.mulf %x, %x : f32
    %r = arith.addf %q, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s : memref<10x100xf32>, memref<10xf32>) outs(%R : memref<10x100xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %f = math.rsqrt %t : f32
    %g = arith.mulf %x, %f : f32
    linalg.yield %g : f32
  }
  return
}
