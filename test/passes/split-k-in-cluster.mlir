// split-k-in-cluster: each block of a cluster copies and multiplies a slice of a tile's k steps; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s split-k-in-cluster cse | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s split-k-in-cluster split-k-in-cluster cse | FileCheck %s

// Ten steps on four blocks: three each, so that the last ones lie beyond the end, where copies give zeros.
// CHECK-LABEL: func.func @ten(
//       CHECK:   "tile.warp_specialize"() ({
//       CHECK:     %[[RANK:.*]] = "tile.rank"()
//       CHECK:     %[[FIRST:.*]] = arith.muli %[[RANK]], %c3
//       CHECK:     scf.for %[[STEP:.*]] = %c0{{.*}} to %c3{{.*}} step %c1
//  CHECK-NEXT:       %[[AT:.*]] = arith.addi %[[STEP]], %[[FIRST]]
//       CHECK:       %[[K:.*]] = arith.muli %[[AT]], %c64
//       CHECK:       "tile.tma_load"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[K]]) {in_bounds = array<i1: true, false>,
//       CHECK:     } {tile.k_range}
//       CHECK:   }, {
//       CHECK:     "tile.mma"(%{{.*}}, %{{.*}}, %cst)
// The consumer's first step stands in front of its loop.
//       CHECK:     scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} step %c1
//       CHECK:     } {tile.k_range}
func.func @ten(%X: memref<64x640xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c10 step %c1 {
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %k) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x640xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = scf.for %step = %c0 to %c9 step %c1 iter_args(%acc = %first) -> (vector<64x64xf32>) {
        %more = "tile.mma"(%A, %A, %acc) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
        scf.yield %more : vector<64x64xf32>
      }
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64, tile.split_k_cluster = 4 : i64}
  return
}

// -----

// Eight steps on two blocks: nothing lies beyond the end that did not before.
// CHECK-LABEL: func.func @eight(
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
//       CHECK:     "tile.tma_load"({{.*}}in_bounds = array<i1: true, true>
func.func @eight(%X: memref<64x512xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        %k = arith.muli %step, %c64 : index
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %k) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64}
  return
}

// -----

// Without tile.split_k_cluster nothing changes.
// CHECK-LABEL: func.func @whole(
//   CHECK-NOT:   tile.rank
//       CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c1
func.func @whole(%X: memref<64x512xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%block) in (16) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      scf.for %step = %c0 to %c8 step %c1 {
        "tile.tma_load"(%A, %X, %bars, %c0, %c0, %step) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x512xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
      }
    }, {
    ^bb0:
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
  return
}
