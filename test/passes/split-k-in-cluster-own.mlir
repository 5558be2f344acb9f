// split-k-in-cluster: tiles with k steps of their own, as bound-steps leaves them: each block has a part of its tile's.
// RUN: mlir-gemm opt %s split-k-in-cluster cse | FileCheck %s
// RUN: mlir-gemm opt %s split-k-in-cluster split-k-in-cluster cse | FileCheck %s

// Half of the steps, rounded up; a block for which none are left has one, of zeros.
// CHECK-LABEL: func.func @tiles(
//       CHECK:     %[[LEFT:.*]] = arith.subi %c8
//       CHECK:     "tile.warp_specialize"() ({
//       CHECK:       %[[MORE:.*]] = arith.addi %[[LEFT]], %c1
//       CHECK:       %[[EACH:.*]] = arith.divui %[[MORE]], %c2
//       CHECK:       %[[RANK:.*]] = "tile.rank"()
//       CHECK:       %[[START:.*]] = arith.muli %[[RANK]], %[[EACH]]
//       CHECK:       %[[NONE:.*]] = arith.cmpi uge, %[[START]], %[[LEFT]]
//       CHECK:       %[[FROM:.*]] = arith.select %[[NONE]], %c0{{.*}}, %[[START]]
//       CHECK:       %[[REST:.*]] = arith.subi %[[LEFT]], %[[FROM]]
//       CHECK:       %[[OWN:.*]] = arith.minui %[[EACH]], %[[REST]]
//       CHECK:       %[[COUNT:.*]] = arith.select %[[NONE]], %c1{{.*}}, %[[OWN]]
//       CHECK:       scf.for %[[STEP:.*]] = %{{.*}} to %{{.*}} step %c1
//       CHECK:         %[[K:.*]] = arith.muli %[[STEP]], %c64
//       CHECK:         %[[PLACE:.*]] = arith.select %[[NONE]], %c512{{.*}}, %[[K]]
//       CHECK:         "tile.tma_load"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[PLACE]]) {in_bounds = array<i1: true, false>,
//       CHECK:       } {tile.k_range}
//       CHECK:     }, {
// The first product stands in front of the loop.
//       CHECK:       %[[COUNT:.*]] = arith.select %{{.*}}, %c1{{.*}}, %
//       CHECK:       %[[LATER:.*]] = arith.subi %[[COUNT]], %c1
//       CHECK:       scf.for %{{.*}} = %c0{{.*}} to %[[LATER]] step %c1
//       CHECK:       } {tile.k_range}
func.func @tiles(%X: memref<512x512xf16>, %D: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (16) {
    %tile = arith.divui %block, %c2 : index
    %left = arith.subi %c8, %tile : index
    %row = arith.muli %tile, %c64 : index
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%bars) {consumers = 1 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %at:2 = "tile.enter"() : () -> (index, i32)
      scf.for %step = %c0 to %left step %c1 {
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%A, %X, %bars, %at#0, %row, %k) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<512x512xf16>, memref<2x2xi64, 3>, index, index, index) -> ()
      }
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
    }, {
      %at:2 = "tile.enter"() : () -> (index, i32)
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %rest = arith.subi %left, %c1 : index
      %sum = scf.for %step = %c0 to %rest step %c1 iter_args(%acc = %first) -> (vector<64x64xf32>) {
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
      %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.leave"(%at#0, %at#1) : (index, i32) -> ()
      "tile.store"(%done, %D, %row, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<512x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64}
  return
}
