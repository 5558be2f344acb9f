// reduce-through-dsmem: the parts of a sum meet after the last wait, and each block finishes its columns; a second run changes
// nothing.
// RUN: mlir-gemm opt %s reduce-through-dsmem cse --reading | FileCheck %s
// RUN: mlir-gemm opt %s reduce-through-dsmem reduce-through-dsmem cse --reading | FileCheck %s

// Two warpgroups, two blocks: 32 of 64 columns each, of the accumulator, the bias, the constant and the result.
// CHECK-LABEL: func.func @half(
//  CHECK-NEXT:   %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<64x32xf32>
//  CHECK-NEXT:   %[[V2:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
//  CHECK-NEXT:   scf.forall (%arg3) in (2) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() {tile.from_reduction} : memref<2x8x128x2xf32, 3>
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() {tile.until_reduction} : memref<64x64xf16, 3>
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 2x1xi64 barriers
//  CHECK-NEXT:     tile.warp_specialize {
//  CHECK-NEXT:       tile.tma_load %arg0[0, 0] -> %[[BUFFER2]], %[[BUFFER3]][0] : 64x64xf16 {in_bounds}
//  CHECK-NEXT:     }, {
//  CHECK-NEXT:       %[[SUM:.*]] = tile.mma %[[BUFFER2]][mk], %[[BUFFER2]][kn], %[[V2]] : 64x64xf32 {async, scope = warpgroup}
//  CHECK-NEXT:       %[[DONE:.*]] = tile.mma_wait %[[SUM]] {pending = 1}
//  CHECK-NEXT:       %[[DONE2:.*]] = tile.mma_wait %[[DONE]] {pending = 0}
//  CHECK-NEXT:       %[[V3:.*]] = tile.dsmem_reduce %[[DONE2]], %[[BUFFER]]
//  CHECK-NEXT:       %[[V4:.*]] = tile.rank
//  CHECK-NEXT:       %[[V5:.*]] = arith.muli %[[V4]], 32 overflow<nsw, nuw> : index
//  CHECK-NEXT:       %[[V6:.*]] = arith.addi 0, %[[V5]] overflow<nsw, nuw> : index
//  CHECK-NEXT:       %[[LOADED:.*]] = tile.load %arg1[%[[V6]]] : 64x32xf32 {scope = warpgroup}
//  CHECK-NEXT:       %[[V7:.*]] = arith.addf %[[V3]], %[[LOADED]] : vector<64x32xf32>
//  CHECK-NEXT:       %[[V8:.*]] = arith.maximumf %[[V7]], %[[V]] : vector<64x32xf32>
//  CHECK-NEXT:       %[[ROUNDED:.*]] = arith.truncf %[[V8]] : vector<64x32xf32> to vector<64x32xf16>
//  CHECK-NEXT:       tile.store %[[ROUNDED]] -> %arg2[0, %[[V6]]] : 64x32xf16 {scope = warpgroup}
//  CHECK-NEXT:     })
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64, tile.warps = 12 : i64}
func.func @half(%X: memref<64x64xf16>, %bias: memref<64xf32>, %D: memref<128x64xf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  scf.forall (%block) in (2) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      "tile.tma_load"(%A, %X, %bars, %c0, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    }, {
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %waited = "tile.mma_wait"(%first) {pending = 1 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %done = "tile.mma_wait"(%waited) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %b = "tile.load"(%bias, %c0) {operandSegmentSizes = array<i32: 1, 1>, scope = "warpgroup"} : (memref<64xf32>, index) -> vector<64x64xf32>
      %added = arith.addf %done, %b : vector<64x64xf32>
      %positive = arith.maximumf %added, %zero : vector<64x64xf32>
      %narrow = arith.truncf %positive : vector<64x64xf32> to vector<64x64xf16>
      "tile.store"(%narrow, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf16>, memref<128x64xf16>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64, tile.warps = 12 : i64}
  return
}

// Blocks that share no tile have nothing to add.
// CHECK-LABEL: func.func @whole(
//  CHECK-NEXT:   scf.forall (%arg1) in (2) {
//  CHECK-NEXT:     %[[DONE:.*]] = tile.mma_wait %arg0 {pending = 0}
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
func.func @whole(%v: vector<64x64xf32>) {
  scf.forall (%block) in (2) {
    %done = "tile.mma_wait"(%v) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}

// A store of a constant, which fills what is masked, has the block's columns too.
// CHECK-LABEL: func.func @filled(
//       CHECK:       %[[FIRST:.*]] = arith.muli %{{.*}}, 32
//       CHECK:       tile.store %{{.*}} -> %arg1[0, %{{.*}}] : 64x32xf32 {scope = warpgroup}
//       CHECK:       tile.store %{{.*}} -> %arg1[64, %{{.*}}] : 64x32xf32 {apart, scope = warpgroup}
func.func @filled(%X: memref<64x64xf16>, %D: memref<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %fill = arith.constant dense<-7.0> : vector<64x64xf32>
  scf.forall (%block) in (2) {
    %A = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.warp_specialize"() ({
      "tile.tma_load"(%A, %X, %bars, %c0, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    }, {
      %first = "tile.mma"(%A, %A, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %done = "tile.mma_wait"(%first) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      "tile.store"(%done, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<128x64xf32>, index, index) -> ()
      "tile.store"(%fill, %D, %c64, %c0) {apart, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<128x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.cluster = 2 : i64, tile.split_k_cluster = 2 : i64, tile.warps = 12 : i64}
  return
}
