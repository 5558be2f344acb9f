// open-steps: a k loop counts from 0 to what tile.step_range says, and reads from its first step on.
// RUN: mlir-gemm opt %s open-steps | FileCheck %s
// RUN: mlir-gemm opt %s open-steps open-steps | FileCheck %s

//       CHECK: #[[STEP:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[RANGE:.*]]:2 = "tile.step_range"() {steps = 4 : i64}
//       CHECK:   affine.for %[[I:.*]] = 0 to 2
//       CHECK:     affine.for %[[K:.*]] = 0 to %[[RANGE]]#1 iter_args
//       CHECK:       %[[S:.*]] = affine.apply #[[STEP]](%[[K]], %[[RANGE]]#0)
//       CHECK:       %[[AT:.*]] = affine.apply #{{.*}}(%[[S]])
//       CHECK:       "tile.copy"(%{{.*}}, %{{.*}}, %{{.*}}, %[[AT]]) {in_bounds = array<i1: true, false>,
//       CHECK:       "tile.copy"(%{{.*}}, %{{.*}}, %[[AT]], %{{.*}}) {in_bounds = array<i1: false, true>,
func.func @product(%A: memref<128x128xf16>, %B: memref<128x64xf16>, %D: memref<128x64xf32>, %s: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    %a = memref.alloc() : memref<64x32xf16, 3>
    %b = memref.alloc() : memref<32x64xf16, 3>
    %0 = affine.for %k = 0 to 4 iter_args(%sum = %s) -> (vector<64x64xf32>) {
      %m = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
      %at = affine.apply affine_map<(d0) -> (d0 * 32)>(%k)
      "tile.copy"(%a, %A, %m, %at) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x32xf16, 3>, memref<128x128xf16>, index, index) -> ()
      "tile.copy"(%b, %B, %at, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, 3>, memref<128x64xf16>, index, index) -> ()
      %1 = "tile.mma"(%a, %b, %sum) {a = "mk", b = "kn"} : (memref<64x32xf16, 3>, memref<32x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      affine.yield %1 : vector<64x64xf32>
    } {tile.loop = "k"}
    %m = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
    "tile.store"(%0, %D, %m, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x64xf32>, memref<128x64xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}
