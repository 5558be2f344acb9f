// warp-specialize{promotion=P}: the products of every P steps start from zero, and are added to the accumulator.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' 'warp-specialize{promotion=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' 'warp-specialize{promotion=5}' cse | FileCheck %s --check-prefix=WHOLE
// RUN: not mlir-gemm opt %s 'multi-buffer{stages=3}' 'warp-specialize{promotion=2 asynchronous=false}' 2>&1 | FileCheck %s --check-prefix=WAITING
// RUN: sed 's/xf32>/xf16>/g' %s | not mlir-gemm opt - 'multi-buffer{stages=3}' 'warp-specialize{promotion=2}' 2>&1 | FileCheck %s --check-prefix=HALF

// CHECK-LABEL: func.func @product(
//       CHECK:   }, {
//       CHECK:     %[[START:.*]] = "tile.load"
//       CHECK:     %[[IN:.*]]:2 = "tile.enter"()
// Five steps: two times two, and one.
//  CHECK-NEXT:     %[[TWICE:.*]]:3 = affine.for %[[NUMBER:.*]] = 0 to 2 iter_args(%[[TOTAL:.*]] = %[[START]], %[[SLOT:.*]] = %[[IN]]#0, %[[PHASE:.*]] = %[[IN]]#1)
//       CHECK:       %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
//       CHECK:       "tile.consumer_wait"(%{{.*}}, %[[SLOT]], %[[PHASE]])
//       CHECK:       %[[FIRST:.*]] = "tile.mma"(%{{.*}}, %{{.*}}, %[[ZERO]]) {a = "mk", async, b = "kn"}
//       CHECK:       %[[SUM:.*]]:4 = affine.for %{{.*}} = 0 to 1 iter_args(%[[ACC:.*]] = %[[FIRST]],
//       CHECK:         "tile.mma"(%{{.*}}, %{{.*}}, %[[ACC]]) {a = "mk", async, b = "kn"}
//       CHECK:         "tile.mma_wait"(%{{.*}}) {pending = 1 : i64}
//       CHECK:       %[[DONE:.*]] = "tile.mma_wait"(%[[SUM]]#0) {pending = 0 : i64}
//  CHECK-NEXT:       "tile.consumer_release"(%{{.*}}, %[[SUM]]#3)
//  CHECK-NEXT:       %[[MORE:.*]] = arith.addf %[[TOTAL]], %[[DONE]]
//  CHECK-NEXT:       affine.yield %[[MORE]], %[[SUM]]#1, %[[SUM]]#2
//       CHECK:     %[[AGAIN:.*]] = arith.constant dense<0.000000e+00> : vector<64x64xf32>
//       CHECK:     %[[LAST:.*]] = "tile.mma"(%{{.*}}, %{{.*}}, %[[AGAIN]])
//       CHECK:     %[[REST:.*]] = "tile.mma_wait"(%[[LAST]]) {pending = 0 : i64}
//       CHECK:     %[[ALL:.*]] = arith.addf %[[TWICE]]#0, %[[REST]]
//       CHECK:     "tile.leave"
//  CHECK-NEXT:     "tile.store"(%[[ALL]],

// No more steps than that: as without.
//   WHOLE-NOT: arith.addf
//       WHOLE: affine.for %{{.*}} = 0 to 4 iter_args(

// WAITING: error: pass 'warp-specialize{asynchronous=false promotion=2}': promotion expects at least 0 steps, and products that are asynchronous
// HALF: error: a sum of f16, which is not promoted; expected f32
func.func @product(%X: memref<64x320xf16>, %Y: memref<320x64xf16>, %D: memref<64x64xf32>) {
  affine.for %block = 0 to 1 {
    %z = arith.constant 0 : index
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %B = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %v = "tile.load"(%D, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
    %s = affine.for %k = 0 to 5 iter_args(%c = %v) -> vector<64x64xf32> {
      %l = affine.apply affine_map<(k) -> (k * 64)>(%k)
      "tile.copy"(%A, %X, %z, %l) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x320xf16>, index, index) -> ()
      "tile.copy"(%B, %Y, %l, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<320x64xf16>, index, index) -> ()
      %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      affine.yield %d : vector<64x64xf32>
    } {tile.loop = "k"}
    "tile.store"(%s, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}
