// Clusters through several passes: which blocks share copies, and which share the steps of k.
// RUN: mlir-gemm opt %s 'rasterize-blocks{cluster_m=2 split_k_cluster=2}' tma-multicast split-k-in-cluster cse | FileCheck %s
// RUN: mlir-gemm opt %s 'rasterize-blocks{cluster_m=2 cluster_n=2}' tma-multicast cse | FileCheck %s --check-prefix=SQUARE
// RUN: mlir-gemm opt %s 'rasterize-blocks{cluster_m=2 cluster_n=2}' tma-multicast tma-multicast cse | FileCheck %s --check-prefix=SQUARE
// RUN: mlir-gemm opt %s 'rasterize-blocks{cluster_m=2 split_k_cluster=2}' tma-multicast split-k-in-cluster tma-multicast split-k-in-cluster cse | FileCheck %s

// Four blocks of a cluster: two tiles below each other, each in two slices of k. The blocks with the same part (a group)
// share what they copy of B; what they copy of A is their own.

// CHECK-LABEL: @groups
// CHECK: scf.forall (%[[BLOCK:.*]]) in (32) {
// CHECK: %[[RANK:.*]] = "tile.rank"() {count = 2 : i64} : () -> index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %[[C4]]
// CHECK: "tile.ring"({{.*}}) {blocks = 2 : i64, cluster_group = 2 : i64, consumers = 1 : i64}
// CHECK: %[[PART:.*]] = "tile.rank"() {stride = 2 : i64} : () -> index
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %[[C4]]
// CHECK: scf.for %[[STEP:.*]] = {{.*}} to %[[C4]]
// CHECK: arith.addi %[[STEP]], %[[FIRST]]
// CHECK: "tile.tma_load"({{.*}}) {operandSegmentSizes
// CHECK: "tile.tma_load"({{.*}}) {cluster_group = 2 : i64, multicast = 2 : i64
// CHECK: } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64, tile.split_k_cluster = 2 : i64}

// Four tiles, two by two: the blocks beside each other (numbers 2 apart) share what they copy of A, those below each
// other what they copy of B, each in halves. A stage is empty once all four have released it.

// SQUARE: scf.forall (%[[BLOCK:.*]]) in (16) {
// SQUARE: %[[BELOW:.*]] = "tile.rank"() {count = 2 : i64} : () -> index
// SQUARE: %[[BESIDE:.*]] = "tile.rank"() {stride = 2 : i64} : () -> index
// SQUARE: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %c4
// SQUARE: %[[ROW:.*]] = arith.addi %{{.*}}, %[[BELOW]]
// SQUARE: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[BESIDE]]
// SQUARE: "tile.ring"({{.*}}) {blocks = 4 : i64, consumers = 1 : i64}
// SQUARE: %[[M:.*]] = arith.muli %[[ROW]], %c64
// SQUARE: %[[N:.*]] = arith.muli %[[COLUMN]], %c64
// SQUARE: %[[HALF:.*]] = arith.muli %{{.*}}, %c32
// SQUARE: %[[PART:.*]] = memref.subview %{{.*}}[%[[HALF]], {{.*}}] [32, 64] [1, 1]
// SQUARE: %[[DOWN:.*]] = arith.addi %[[M]], %[[HALF]]
// SQUARE: "tile.tma_load"(%[[PART]], %{{.*}}, %{{.*}}, %{{.*}}, %[[DOWN]], %{{.*}}) {cluster_group = 2 : i64, multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>, stride = 2 : i64}
// SQUARE: "tile.tma_load"({{.*}}, %[[N]]) {cluster_group = 2 : i64, multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<32x128xf16
// SQUARE: } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64, tile.cluster_rows = 2 : i64}
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
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        %m = arith.muli %i, %c64 : index
        %n = arith.muli %j, %c64 : index
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%SA, %A, %bars, %c0, %m, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<256x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
        "tile.tma_load"(%SB, %B, %bars, %c0, %k, %n) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x128xf16, 3>, memref<512x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
    ^bb0:
    }) : () -> ()
    scf.reduce
  }
  return
}
