// raise-loops refuses what no linalg.generic says: the order of iterations, and places that are computed.
// RUN: not mlir-gemm opt --split-input-file %s raise-loops 2>&1 | FileCheck %s

// CHECK: :[[# @LINE + 3]]:10: error: 'affine.load' and 'affine.store' may access the same element in different iterations of 'affine.for', so the loops cannot run one after the other: a loop-carried dependence
func.func @recurrence(%A: memref<8xf32>) {
  affine.for %i = 1 to 8 {
    %x = affine.load %A[%i - 1] : memref<8xf32>
    %y = math.exp %x : f32
    affine.store %y, %A[%i] : memref<8xf32>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 5]]:5: error: 'affine.store' writes the same element in every iteration of 'affine.for', and the last one stays: a loop-carried dependence
func.func @last(%A: memref<4x8xf32>, %B: memref<4xf32>) {
  affine.for %i = 0 to 4 {
  affine.for %j = 0 to 8 {
    %x = affine.load %A[%i, %j] : memref<4x8xf32>
    affine.store %x, %B[%i] : memref<4xf32>
  } }
  return
}

// -----

// CHECK: :[[# @LINE + 7]]:10: error: the index of 'memref.load' along dimension 0 is no sum of loops times numbers
func.func @gather(%A: memref<8xf32>, %I: memref<4xindex>, %B: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %j = memref.load %I[%i] : memref<4xindex>
    %x = memref.load %A[%j] : memref<8xf32>
    memref.store %x, %B[%i] : memref<4xf32>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 3]]:10: error: the index of 'affine.load' along dimension 0 is no sum of loops times numbers
func.func @quotient(%A: memref<8xf32>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i floordiv 2] : memref<8xf32>
    affine.store %x, %B[%i] : memref<8xf32>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 5]]:5: error: 'affine.store' writes at an index that is a sum of loops, or uses a loop twice
func.func @scatter(%A: memref<4x4xf32>, %B: memref<7xf32>) {
  affine.for %i = 0 to 4 {
  affine.for %j = 0 to 4 {
    %x = affine.load %A[%i, %j] : memref<4x4xf32>
    affine.store %x, %B[%i + %j] : memref<7xf32>
  } }
  return
}

// -----

// CHECK: :[[# @LINE + 3]]:3: error: the upper bound of 'affine.for' changes with the loops around it; expected a constant or a memref.dim
func.func @triangle(%A: memref<4x4xf32>, %B: memref<4x4xf32>) {
  affine.for %i = 0 to 4 {
  affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
    %x = affine.load %A[%i, %j] : memref<4x4xf32>
    affine.store %x, %B[%i, %j] : memref<4x4xf32>
  } }
  return
}

// -----

// CHECK: :[[# @LINE + 3]]:3: error: the upper bound of 'affine.for' is computed; expected a constant or a memref.dim
func.func @number(%A: memref<4xf32>, %n: index) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.store %z, %A[%i] : memref<4xf32>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 5]]:10: error: 'affine.load' and 'affine.store' may access the same element in different iterations of 'affine.for'
func.func @aliases(%A: memref<8xf32>) {
  %a = memref.subview %A[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %b = memref.subview %A[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  affine.for %i = 0 to 4 {
    %x = affine.load %a[%i] : memref<4xf32, strided<[1]>>
    %y = math.exp %x : f32
    affine.store %y, %b[%i] : memref<4xf32, strided<[1], offset: 2>>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 6]]:5: error: 'affine.store' uses what was read before 'affine.store' may write to the same element; expected the load after that store
func.func @swap(%A: memref<8xf32>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    %y = affine.load %B[%i] : memref<8xf32>
    affine.store %y, %A[%i] : memref<8xf32>
    affine.store %x, %B[%i] : memref<8xf32>
  }
  return
}

// -----

// A scan: each element is a sum of all before it.
// CHECK: :[[# @LINE + 6]]:5: error: what 'affine.store' writes depends on what 'affine.for' carries from one iteration to the next
func.func @scan(%A: memref<8xf32>, %B: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to 8 iter_args(%a = %z) -> (f32) {
    %x = affine.load %A[%i] : memref<8xf32>
    %n = arith.addf %a, %x : f32
    affine.store %n, %B[%i] : memref<8xf32>
    affine.yield %n : f32
  }
  return
}

// -----

// CHECK: :[[# @LINE + 4]]:8: error: 'affine.for': what an iteration computes depends on the one before it in a way that is no sum, product, maximum, minimum, and, or, xor
func.func @horner(%A: memref<8xf32>, %B: memref<1xf32>) {
  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.5 : f32
  %s = affine.for %i = 0 to 8 iter_args(%a = %z) -> (f32) {
    %x = affine.load %A[%i] : memref<8xf32>
    %m = arith.mulf %a, %h : f32
    %n = arith.addf %m, %x : f32
    affine.yield %n : f32
  }
  affine.store %s, %B[0] : memref<1xf32>
  return
}

// -----

// CHECK: :[[# @LINE + 3]]:10: error: 'affine.load' goes from 1 to 8 along dimension 0 of memref<8xf32>; expected indices from 0 to 7
func.func @beyond(%A: memref<8xf32>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i + 1] : memref<8xf32>
    affine.store %x, %B[%i] : memref<8xf32>
  }
  return
}

// -----

// CHECK: :[[# @LINE + 8]]:5: error: 'scf.if' in a loop that is no step of a program; expected arith.select of the values
func.func @branch(%A: memref<8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {

    scf.if %c {
      memref.store %z, %A[%i] : memref<8xf32>
    }
  }
  return
}

// -----

// CHECK: :[[# @LINE + 4]]:10: error: 'memref.alloca' in a loop over elements; expected loads and stores, arith, math and loops
func.func @local(%A: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    %t = memref.alloca() : memref<f32>
    affine.store %z, %A[%i] : memref<8xf32>
  }
  return
}
