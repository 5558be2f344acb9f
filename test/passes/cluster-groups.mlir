// RUN: mlir-gemm opt %s 'map-blocks{cluster_m=2 split=2}' share-copies split-steps cse | FileCheck %s
// RUN: mlir-gemm opt %s 'map-blocks{cluster_m=2 split=2}' share-copies split-steps share-copies split-steps cse | FileCheck %s

// Four blocks of a cluster: two tiles below each other, each in two parts of k. The blocks with the same part (a group)
// share what they copy of B; what they copy of A is their own.

// CHECK-LABEL: @groups
// CHECK: scf.forall (%[[BLOCK:.*]]) in (32) {
// CHECK: %[[RANK:.*]] = "tile.rank"() {group = 2 : i64} : () -> index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %[[C4]]
// CHECK: "tile.ring"({{.*}}) {blocks = 2 : i64, consumers = 1 : i64, group = 2 : i64}
// CHECK: %[[PART:.*]] = "tile.rank"() {group = 2 : i64, part} : () -> index
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %[[C4]]
// CHECK: scf.for %[[STEP:.*]] = {{.*}} to %[[C4]]
// CHECK: arith.addi %[[STEP]], %[[FIRST]]
// CHECK: "tile.copy_bulk"({{.*}}) {operandSegmentSizes
// CHECK: "tile.copy_bulk"({{.*}}) {group = 2 : i64, multicast = 2 : i64
// CHECK: } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64, tile.split = 2 : i64}
func.func @groups(%A: memref<256x512xf16>, %B: memref<512x512xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    %SA = memref.alloc() : memref<64x64xf16, 3>
    %SB = memref.alloc() : memref<64x128xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x1xi64, 3>) -> ()
    "tile.specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        %m = arith.muli %i, %c64 : index
        %n = arith.muli %j, %c64 : index
        %k = arith.muli %step, %c64 : index
        "tile.copy_bulk"(%SA, %A, %bars, %c0, %m, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<256x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
        "tile.copy_bulk"(%SB, %B, %bars, %c0, %k, %n) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x128xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
    }) : () -> ()
    scf.reduce
  }
  return
}
