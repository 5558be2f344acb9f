// unroll-steps: loops and branches around operations on tensors become straight-line code; a second run changes nothing.
// RUN: mlir-gemm opt %s unroll-steps | FileCheck %s
// RUN: mlir-gemm opt %s unroll-steps unroll-steps | FileCheck %s

// A loop that hands a tensor on, and a branch on its induction variable.
// CHECK-LABEL: func.func @power(
//  CHECK-SAME:   %[[A:.*]]: tensor<16x16xf32>, %[[X:.*]]: tensor<16x8xf32>
//   CHECK-NOT:   scf.
//       CHECK:   %[[ONE:.*]] = linalg.matmul ins(%[[A]], %[[X]] : {{.*}})
//  CHECK-NEXT:   %[[T:.*]] = linalg.tanh ins(%[[ONE]] : {{.*}})
//  CHECK-NEXT:   %[[TWO:.*]] = linalg.matmul ins(%[[A]], %[[T]] : {{.*}})
//  CHECK-NEXT:   return %[[TWO]]
func.func @power(%A: tensor<16x16xf32>, %x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant dense<0.0> : tensor<16x8xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x) -> (tensor<16x8xf32>) {
    %p = linalg.matmul ins(%A, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    %q = scf.if %first -> (tensor<16x8xf32>) {
      %t = linalg.tanh ins(%p : tensor<16x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
      scf.yield %t : tensor<16x8xf32>
    } else {
      scf.yield %p : tensor<16x8xf32>
    }
    scf.yield %q : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}

// Slices of memory, in loops whose bounds follow from others.
// CHECK-LABEL: func.func @triangle(
//  CHECK-SAME:   %[[A:.*]]: memref<3x16x24xf32>
//   CHECK-NOT:   affine.for
//       CHECK:   memref.subview %[[A]][0, 0, 0] [1, 16, 24] [1, 1, 1] : {{.*}} to memref<16x24xf32, strided<[24, 1]>>
//       CHECK:   linalg.matmul
//       CHECK:   linalg.matmul
//       CHECK:   memref.subview %[[A]][1, 0, 0] [1, 16, 24] [1, 1, 1] : {{.*}} to memref<16x24xf32, strided<[24, 1], offset: 384>>
//       CHECK:   linalg.matmul
//   CHECK-NOT:   linalg.matmul
//       CHECK:   return
func.func @triangle(%A: memref<3x16x24xf32>, %B: memref<24x8xf32>, %C: memref<16x8xf32>) {
  affine.for %h = 0 to 2 {
    affine.for %g = affine_map<(d0) -> (d0)>(%h) to 2 {
      %a = memref.subview %A[%h, 0, 0] [1, 16, 24] [1, 1, 1] : memref<3x16x24xf32> to memref<16x24xf32, strided<[24, 1], offset: ?>>
      linalg.matmul ins(%a, %B : memref<16x24xf32, strided<[24, 1], offset: ?>>, memref<24x8xf32>) outs(%C : memref<16x8xf32>)
    }
  }
  return
}

// Loops over elements stay: raise-loops takes them.
// CHECK-LABEL: func.func @elements(
//       CHECK:   affine.for %{{.*}} = 0 to 8 {
//  CHECK-NEXT:     affine.store
func.func @elements(%A: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.store %z, %A[%i] : memref<8xf32>
  }
  return
}
