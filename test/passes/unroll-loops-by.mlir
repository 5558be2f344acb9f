// unroll-loops by a factor: iterations become one, in a loop over the rest that a second run leaves alone.
// RUN: mlir-gemm opt %s 'unroll-loops{by=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'unroll-loops{by=2}' 'unroll-loops{by=2}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'unroll-loops{by=4}' cse | FileCheck %s --check-prefix=ALL
// RUN: not mlir-gemm opt %s 'unroll-loops{by=3}' 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not mlir-gemm opt %s 'unroll-loops{by=-1}' 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: pass 'unroll-loops{level=warp_k by=-1}': expected by=0, for all iterations, or at least 1

func.func private @step(index, f32) -> f32

// CHECK-LABEL: @carried
// CHECK-SAME: %[[START:.*]]: f32
// CHECK: %[[STEP:.*]] = arith.constant 32 : index
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c64 step %[[STEP]] iter_args(%[[IN:.*]] = %[[START]]) -> (f32) {
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c16
// CHECK: %[[ONE:.*]] = func.call @step(%[[K]], %[[IN]])
// CHECK: %[[TWO:.*]] = func.call @step(%[[NEXT]], %[[ONE]])
// CHECK-NOT: func.call
// CHECK: scf.yield %[[TWO]] : f32
// CHECK-NOT: tile.loop
// CHECK: return %[[SUM]]
// ALL-LABEL: @carried
// ALL-NOT: scf.for
// ALL-COUNT-4: call @step
func.func @carried(%start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // ODD: unroll-loops-by.mlir:[[# @LINE + 1]]:10: error: a loop of 4 iterations is not unrolled by 3; expected a divisor of 4
  %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %start) -> (f32) {
    %next = func.call @step(%k, %s) : (index, f32) -> f32
    scf.yield %next : f32
  } {tile.loop = "warp_k"}
  return %sum : f32
}
