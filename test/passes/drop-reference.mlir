// drop-reference: what a kernel computes is no longer kept as text beside it; a second run changes nothing.
// RUN: mlir-gemm opt %s drop-reference | FileCheck %s
// RUN: mlir-gemm opt %s drop-reference drop-reference | FileCheck %s
// RUN: mlir-gemm opt %s keep-reference drop-reference | FileCheck %s

// The rest of the function stays as it is, in a program too.
//   CHECK-NOT: tile.reference
//       CHECK: func.func @copy(%[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>) attributes {tile.kind = "elementwise"} {
//  CHECK-NEXT:   memref.copy %[[A]], %[[B]]
//   CHECK-NOT: tile.reference
func.func @copy(%a: memref<4xf32>, %b: memref<4xf32>) attributes {tile.kind = "elementwise", tile.reference = "func.func @copy() { return }"} {
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  return
}
