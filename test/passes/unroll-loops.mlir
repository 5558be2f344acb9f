// unroll-loops: loops of one level are unrolled completely.
// RUN: mlir-gemm opt %s unroll-loops | FileCheck %s
// RUN: mlir-gemm opt %s 'unroll-loops{level=point}' | FileCheck %s --check-prefix=POINTS

func.func private @step(index)

// Results are carried from iteration to iteration; a loop without a label stays.
// CHECK-LABEL: @carried
// CHECK-SAME: %[[START:.*]]: f32
// CHECK: arith.constant 32 : index
// CHECK-NEXT: %[[K0:.*]] = arith.constant 0 : index
// CHECK-NEXT: call @step(%[[K0]])
// CHECK-NEXT: %[[ONCE:.*]] = arith.addf %[[START]], %[[START]]
// CHECK-NEXT: %[[K1:.*]] = arith.constant 16 : index
// CHECK-NEXT: call @step(%[[K1]])
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[ONCE]], %[[ONCE]]
// CHECK-NEXT: scf.for
// CHECK: return %[[TWICE]]

// POINTS-LABEL: @carried
// POINTS: } {tile.loop = "warp_k"}
func.func @carried(%start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %sum = scf.for %k = %c0 to %c32 step %c16 iter_args(%s = %start) -> (f32) {
    func.call @step(%k) : (index) -> ()
    %twice = arith.addf %s, %s : f32
    scf.yield %twice : f32
  } {tile.loop = "warp_k"}
  scf.for %k = %c0 to %c32 step %c16 {
    func.call @step(%k) : (index) -> ()
  }
  return %sum : f32
}

// Loops in loops, an induction variable that is not an index, and a loop that never runs.
// CHECK-LABEL: @nested
// CHECK: scf.for
// CHECK: scf.for

// POINTS-LABEL: @nested
// POINTS-SAME: %[[OUT:.*]]: memref<2xi32>, %[[START:.*]]: f32
// POINTS-NOT: scf.for
// POINTS: arith.constant 7 : i32
// POINTS-NEXT: %[[I0:.*]] = arith.constant 0 : index
// POINTS-NEXT: %[[J0:.*]] = arith.constant 0 : i32
// POINTS-NEXT: memref.store %[[J0]], %[[OUT]][%[[I0]]]
// POINTS-NEXT: %[[I1:.*]] = arith.constant 1 : index
// POINTS-NEXT: %[[J1:.*]] = arith.constant 0 : i32
// POINTS-NEXT: memref.store %[[J1]], %[[OUT]][%[[I1]]]
// POINTS-NEXT: return %[[START]]
func.func @nested(%out: memref<2xi32>, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 7 : i32
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %i0 to %i1 step %i1 : i32 {
      memref.store %j, %out[%i] : memref<2xi32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  %same = scf.for %i = %c2 to %c0 step %c1 iter_args(%s = %start) -> (f32) {
    %twice = arith.addf %s, %s : f32
    scf.yield %twice : f32
  } {tile.loop = "point"}
  return %same : f32
}
