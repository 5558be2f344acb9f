// sink-init: a computed start of the accumulator is added at the end; a second run changes nothing.
// RUN: mlir-gemm opt %s sink-init --reading | FileCheck %s
// RUN: mlir-gemm opt %s sink-init sink-init --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'sink-init{loads=true}' | FileCheck %s --check-prefix=LOADS

// CHECK-LABEL: func.func @extended(
//  CHECK-NEXT:   %[[V:.*]] = arith.extf %arg1 : vector<16x16xf16> to vector<16x16xf32>
//  CHECK-NEXT:   %[[V2:.*]] = arith.constant dense<0.000000e+00> : vector<16x16xf32>
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg2 = 0 to 4 iter_args(%arg3 = %[[V2]]) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg0[mk], %arg0[kn], %arg3 : 16x16xf32
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//  CHECK-NEXT:   %[[V3:.*]] = arith.addf %[[LOOP]], %[[V]] : vector<16x16xf32>
//  CHECK-NEXT:   return %[[V3]] : vector<16x16xf32>
func.func @extended(%A: memref<16x16xf16, 3>, %v: vector<16x16xf16>) -> vector<16x16xf32> {
  %w = arith.extf %v : vector<16x16xf16> to vector<16x16xf32>
  %s = affine.for %k = 0 to 4 iter_args(%c = %w) -> vector<16x16xf32> {
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// A start that comes from outside as an argument, and two products a step.
// CHECK-LABEL: func.func @argument(
//  CHECK-NEXT:   %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<16x16xf32>
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg2 = 0 to 4 iter_args(%arg3 = %[[V]]) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %arg0[mk], %arg0[kn], %arg3 : 16x16xf32
//  CHECK-NEXT:     %[[SUM2:.*]] = tile.mma %arg0[mk], %arg0[kn], %[[SUM]] : 16x16xf32
//  CHECK-NEXT:     affine.yield %[[SUM2]] : vector<16x16xf32>
//  CHECK-NEXT:   }
//  CHECK-NEXT:   %[[V2:.*]] = arith.addf %[[LOOP]], %arg1 : vector<16x16xf32>
//  CHECK-NEXT:   return %[[V2]] : vector<16x16xf32>
func.func @argument(%A: memref<16x16xf16, 3>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = "tile.mma"(%A, %A, %d) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %e : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}

// With `loads` what is loaded is added too, and integers are.
// LOADS-LABEL: func.func @bytes(
//       LOADS:   %[[V:.*]] = "tile.load"
//       LOADS:   %[[S:.*]] = affine.for {{.*}} iter_args(%{{.*}} = %cst)
//       LOADS:   %[[T:.*]] = arith.addi %[[S]], %[[V]] : vector<16x16xi32>
//       LOADS:   return %[[T]]
func.func @bytes(%A: memref<16x16xi8, 3>, %C: memref<16x16xi32>) -> vector<16x16xi32> {
  %z = arith.constant 0 : index
  %v = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x16xi32>, index, index) -> vector<16x16xi32>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xi32> {
    %d = "tile.mma"(%A, %A, %c) {a = "mk", b = "kn"} : (memref<16x16xi8, 3>, memref<16x16xi8, 3>, vector<16x16xi32>) -> vector<16x16xi32>
    affine.yield %d : vector<16x16xi32>
  } {tile.loop = "k"}
  return %s : vector<16x16xi32>
}
