// reduce-through-dsmem: the parts of a sum meet after the last wait, and each block finishes its columns; a second run changes
// nothing.
// RUN: mlir-gemm opt %s reduce-through-dsmem cse | FileCheck %s
// RUN: mlir-gemm opt %s reduce-through-dsmem reduce-through-dsmem cse | FileCheck %s

// Two warpgroups, two blocks: 32 of 64 columns each, of the accumulator, the bias, the constant and the result.
// CHECK-LABEL: func.func @half(
//  CHECK-SAME: %{{.*}}: memref<64x64xf16>, %[[BIAS:.*]]: memref<64xf32>, %[[D:.*]]: memref<128x64xf16>
//       CHECK:   %[[SCRATCH:.*]] = memref.alloc() {tile.from_reduction} : memref<2x8x128x2xf32, 3>
//       CHECK:   memref.alloc() {tile.until_reduction} : memref<64x64xf16, 3>
//       CHECK:   "tile.mma_wait"(%{{.*}}) {pending = 1 : i64} : (vector<64x64xf32>)
//       CHECK:   %[[DONE:.*]] = "tile.mma_wait"(%{{.*}}) {pending = 0 : i64} : (vector<64x64xf32>)
//  CHECK-NEXT:   %[[SUM:.*]] = "tile.dsmem_reduce"(%[[DONE]], %[[SCRATCH]]) : (vector<64x64xf32>, memref<2x8x128x2xf32, 3>) -> vector<64x32xf32>
//       CHECK:   %[[RANK:.*]] = "tile.rank"()
//       CHECK:   %[[COLUMN:.*]] = arith.muli %[[RANK]], %c32
//       CHECK:   %[[AT:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
//       CHECK:   %[[B:.*]] = "tile.load"(%[[BIAS]], %[[AT]]) {{.*}} -> vector<64x32xf32>
//       CHECK:   %[[ADDED:.*]] = arith.addf %[[SUM]], %[[B]] : vector<64x32xf32>
//       CHECK:   %[[POSITIVE:.*]] = arith.maximumf %[[ADDED]], %{{.*}} : vector<64x32xf32>
//       CHECK:   %[[NARROW:.*]] = arith.truncf %[[POSITIVE]] : vector<64x32xf32> to vector<64x32xf16>
//       CHECK:   "tile.store"(%[[NARROW]], %[[D]], %{{.*}}, %[[AT]]) {{.*}} : (vector<64x32xf16>,
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
//   CHECK-NOT:   tile.dsmem_reduce
//       CHECK:   return
func.func @whole(%v: vector<64x64xf32>) {
  scf.forall (%block) in (2) {
    %done = "tile.mma_wait"(%v) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
  } {mapping = [#gpu.block<x>], tile.warps = 12 : i64}
  return
}
