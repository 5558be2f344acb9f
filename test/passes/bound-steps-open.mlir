// bound-steps: what open-steps left is computed for each tile, and what pipelines made of it too.
// RUN: mlir-gemm opt %s bound-steps | FileCheck %s

// Rows of tiles of 64 end their steps of 32 at the diagonal; the number of steps before the last is a tile's own too.
// CHECK-LABEL: func.func @triangle(
//   CHECK-NOT:   tile.step_range
//       CHECK:   scf.parallel (%[[I:.*]], %[[J:.*]]) =
//       CHECK:     %[[COUNT:.*]] = arith.minui %{{.*}}, %c8
//       CHECK:     %[[BEFORE:.*]] = arith.subi %[[COUNT]], %c1
//       CHECK:     scf.for %{{.*}} = %c0 to %[[BEFORE]] step %c1
func.func @triangle(%A: memref<64x32xf16, 3>, %B: memref<32x64xf16, 3>, %s: vector<64x64xf32>) attributes {tile.zeros = "k>m"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0:2 = "tile.step_range"() {steps = 8 : i64} : () -> (index, index)
  %before = arith.subi %0#1, %c1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    %sum = scf.for %k = %c0 to %before step %c1 iter_args(%acc = %s) -> (vector<64x64xf32>) {
      %1 = "tile.mma"(%A, %B, %acc) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      scf.yield %1 : vector<64x64xf32>
    }
    scf.reduce
  }
  return
}
