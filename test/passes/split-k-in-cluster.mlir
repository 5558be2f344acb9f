// split-k-in-cluster: each block of a cluster copies and multiplies a slice of a tile's k steps; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s split-k-in-cluster cse --reading | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s split-k-in-cluster split-k-in-cluster cse --reading | FileCheck %s

// Ten steps on four blocks: three each, so that the last ones lie beyond the end, where copies give zeros.
// CHECK-LABEL: func.func @ten(
//  CHECK-NEXT:   %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 64x64xf16
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:       %[[V2:.*]] = tile.rank
//  CHECK-NEXT:       %[[V3:.*]] = arith.muli %[[V2]], 3 overflow<nsw, nuw> : index
//  CHECK-NEXT:       scf.for %arg2 = 0 to 3 step 1 {
//  CHECK-NEXT:         %[[V4:.*]] = arith.addi %arg2, %[[V3]] overflow<nsw, nuw> : index
//  CHECK-NEXT:         %[[V5:.*]] = arith.muli %[[V4]], 64 : index
//  CHECK-NEXT:         tile.tma_load %arg0[0, %[[V5]]] -> %[[BUFFER]], %[[BUFFER2]][0] : 64x64xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:       } {tile.k_range}
//  CHECK-NEXT:     }, {
// The consumer's first step is before its loop.
//  CHECK-NEXT:       %[[SUM:.*]] = tile.mma %[[BUFFER]][mk], %[[BUFFER]][kn], %[[V]] : 64x64xf32 {async}
//  CHECK-NEXT:       %[[LOOP:.*]] = scf.for %arg2 = 0 to 2 step 1 iter_args(%arg3 = %[[SUM]]) -> (vector<64x64xf32>) {
//  CHECK-NEXT:         %[[SUM2:.*]] = tile.mma %[[BUFFER]][mk], %[[BUFFER]][kn], %arg3 : 64x64xf32 {async}
//  CHECK-NEXT:         scf.yield %[[SUM2]] : vector<64x64xf32>
//  CHECK-NEXT:       } {tile.k_range}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 4 : i64, tile.split_k_cluster = 4 : i64}
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
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 64x64xf16
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:       %[[V:.*]] = tile.rank
//  CHECK-NEXT:       %[[V2:.*]] = arith.muli %[[V]], 4 overflow<nsw, nuw> : index
//  CHECK-NEXT:       scf.for %arg2 = 0 to 4 step 1 {
//  CHECK-NEXT:         %[[V3:.*]] = arith.addi %arg2, %[[V2]] overflow<nsw, nuw> : index
//  CHECK-NEXT:         %[[V4:.*]] = arith.muli %[[V3]], 64 : index
//  CHECK-NEXT:         tile.tma_load %arg0[0, %[[V4]]] -> %[[BUFFER]], %[[BUFFER2]][0] : 64x64xf16 {in_bounds}
//  CHECK-NEXT:       } {tile.k_range}
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64}
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
//  CHECK-NEXT:   scf.forall (%arg1) in (16) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 64x64xf16
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:       scf.for %arg2 = 0 to 8 step 1 {
//  CHECK-NEXT:         tile.tma_load %arg0[0, %arg2] -> %[[BUFFER]], %[[BUFFER2]][0] : 64x64xf16
//  CHECK-NEXT:       }
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:     ^bb0:
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64}
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
