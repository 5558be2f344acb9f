// sink-init leaves alone what starts from a constant or a load, and loops that do more than add.
// RUN: mlir-gemm opt %s sink-init | FileCheck %s
// RUN: not mlir-gemm opt %s 'sink-init{zero=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'sink-init' has no option 'zero' (options: loads)

// CHECK-NOT: arith.addf

// CHECK-LABEL: func.func @constant(
//       CHECK:   affine.for {{.*}} iter_args(%{{.*}} = %cst)
func.func @constant(%A: memref<16x16xf16, 3>) -> vector<16x16xf32> {
  %one = arith.constant dense<1.0> : vector<16x16xf32>
  %s = affine.for %k = 0 to 4 iter_args(%c = %one) -> vector<16x16xf32> {
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// CHECK-LABEL: func.func @loaded(
//       CHECK:   %[[C:.*]] = "tile.load"
//       CHECK:   affine.for {{.*}} iter_args(%{{.*}} = %[[C]])
func.func @loaded(%A: memref<16x16xf16, 3>, %C: memref<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %v = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// Doubled in each step, the start would be doubled too.
// CHECK-LABEL: func.func @scaled(
//       CHECK:   affine.for {{.*}} iter_args(%{{.*}} = %arg1)
func.func @scaled(%A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %two = arith.constant dense<2.0> : vector<16x16xf32>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %t = arith.mulf %c, %two : vector<16x16xf32>
    %d = "tile.mma"(%A, %A, %t) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}
