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

// Of a list of blocks the loop walks places in a table: each access along k looks up which step that is, and what is
// copied ahead of the last step is that step again.
//       CHECK: memref.global "private" constant @steps_of_listed : memref<6xi32> = dense<[3, 4, 6, 1, 0, 2]>
// CHECK-LABEL: func.func @listed(
//       CHECK:   scf.parallel (%[[I:.*]], %[[J:.*]]) =
//       CHECK:     %[[TABLE:.*]] = memref.get_global @steps_of_listed
//       CHECK:     memref.load %[[TABLE]][%[[I]]]
//       CHECK:     %[[FIRST:.*]] = arith.index_cast
//       CHECK:     memref.load %[[TABLE]]
//       CHECK:     %[[END:.*]] = arith.index_cast
//       CHECK:     %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
//       CHECK:     scf.for %[[K:.*]] = %c0 to %[[COUNT]] step %c1
//       CHECK:       %[[AT:.*]] = arith.addi %[[K]], %[[FIRST]]
//       CHECK:       %[[PLACE:.*]] = arith.muli %[[AT]], %c32
//       CHECK:       %[[NUMBER:.*]] = arith.divui %[[PLACE]], %{{.*}} : index
//       CHECK:       %[[LAST:.*]] = arith.subi %[[END]], %{{.*}} : index
//       CHECK:       %[[IN:.*]] = arith.minui %[[NUMBER]], %[[LAST]] : index
//       CHECK:       memref.load %[[TABLE]][%[[IN]]]
//       CHECK:       %[[STEP:.*]] = arith.index_cast
//       CHECK:       %[[FROM:.*]] = arith.muli %[[STEP]], %{{.*}} : index
//       CHECK:       "tile.copy"(%{{.*}}, %{{.*}}, %[[FROM]], %c0)
func.func @listed(%A: memref<64x32xf16, 3>, %B: memref<32x64xf16, 3>, %G: memref<96x64xf16>, %s: vector<64x64xf32>) attributes {tile.zeros = "k/32 not in m/64: 2 5"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %0:2 = "tile.step_range"() {steps = 3 : i64} : () -> (index, index)
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c1) step (%c1, %c1) {
    %sum = scf.for %k = %c0 to %0#1 step %c1 iter_args(%acc = %s) -> (vector<64x64xf32>) {
      %at = arith.addi %k, %0#0 : index
      %place = arith.muli %at, %c32 : index
      "tile.copy"(%B, %G, %place, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<96x64xf16>, index, index) -> ()
      %1 = "tile.mma"(%A, %B, %acc) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      scf.yield %1 : vector<64x64xf32>
    }
    scf.reduce
  }
  return
}
