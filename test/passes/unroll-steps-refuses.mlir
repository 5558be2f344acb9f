// unroll-steps refuses loops around tensors of which it is not known how often they run, and those that run too often.
// RUN: not mlir-gemm opt --split-input-file %s unroll-steps 2>&1 | FileCheck %s

// CHECK: :[[# @LINE + 4]]:3: error: the upper bound of 'scf.for' is computed; expected a constant or a memref.dim
func.func @number(%A: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%A : memref<8xf32>) outs(%A : memref<8xf32>)
  }
  return
}

// -----

// CHECK: :[[# @LINE + 5]]:3: error: how often 'scf.for' runs around operations on tensors or memrefs is known at run time only; expected constant bounds
func.func @size(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)
  }
  return
}

// -----

// CHECK: :[[# @LINE + 2]]:3: error: 'affine.for' makes 5000 operations of linalg when it is unrolled; at most 1024 are compiled as one program: call the kernel of its body in a loop
func.func @often(%A: memref<8xf32>) {
  affine.for %i = 0 to 5000 {
    linalg.exp ins(%A : memref<8xf32>) outs(%A : memref<8xf32>)
  }
  return
}

// -----

// CHECK: :[[# @LINE + 2]]:3: error: 'scf.forall' around operations on tensors or memrefs; expected scf.for or affine.for
func.func @blocks(%A: memref<8xf32>) {
  scf.forall (%i) in (4) {
    linalg.exp ins(%A : memref<8xf32>) outs(%A : memref<8xf32>)
  }
  return
}
