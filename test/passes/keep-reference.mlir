// keep-reference: the function carries what its module holds, less what has been decided.
// RUN: mlir-gemm opt %s keep-reference | FileCheck %s
// RUN: mlir-gemm opt %s keep-reference keep-reference | FileCheck %s

// CHECK: func.func @f(
// CHECK-SAME: tile.reference = "func.func @f(%arg0: memref<4xf32>
// CHECK-NOT: tile.schedule
// CHECK-SAME: linalg.fill
// CHECK-SAME: tile.schedule = {stages = 2 : i64}} {
// CHECK: linalg.fill
func.func @f(%A: memref<4xf32>) attributes {tile.schedule = {stages = 2 : i64}} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%A : memref<4xf32>)
  return
}
