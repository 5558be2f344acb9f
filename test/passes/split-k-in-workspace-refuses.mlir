// What split-k-in-workspace refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'split-k-in-workspace{slices=3}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'split-k-in-workspace{slices=0}' 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: pass 'split-k-in-workspace': slices=0; expected at least 1
// NONE-NOT: Traceback

func.func @uneven(%X: memref<32x512xf32>, %Y: memref<512x64xf32>, %D: memref<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<32x64xf32>)
  // CHECK: split-k-in-workspace-refuses.mlir:[[# @LINE + 1]]:3: error: the steps of a product cannot be divided: it has a k of 512, which does not divide into 3 slices
  linalg.matmul ins(%X, %Y : memref<32x512xf32>, memref<512x64xf32>) outs(%D : memref<32x64xf32>)
  return
}

// -----

func.func @adds(%X: memref<32x510xf32>, %Y: memref<510x64xf32>, %D: memref<32x64xf32>) {
  // CHECK: split-k-in-workspace-refuses.mlir:[[# @LINE + 1]]:3: error: the steps of a product cannot be divided: it starts from what is in memory, which every slice would add
  linalg.matmul ins(%X, %Y : memref<32x510xf32>, memref<510x64xf32>) outs(%D : memref<32x64xf32>)
  return
}

// -----

func.func @square(%X: memref<510x510xf32>, %D: memref<510x510xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<510x510xf32>)
  // CHECK: split-k-in-workspace-refuses.mlir:[[# @LINE + 1]]:3: error: the steps of a product cannot be divided: it has an operand A that the kernel reads twice
  linalg.matmul ins(%X, %X : memref<510x510xf32>, memref<510x510xf32>) outs(%D : memref<510x510xf32>)
  return
}

// -----

func.func @open(%X: memref<32x?xf32>, %Y: memref<?x64xf32>, %D: memref<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<32x64xf32>)
  // CHECK: split-k-in-workspace-refuses.mlir:[[# @LINE + 1]]:3: error: the steps of a product cannot be divided: it has an operand A that has sizes known at run time only
  linalg.matmul ins(%X, %Y : memref<32x?xf32>, memref<?x64xf32>) outs(%D : memref<32x64xf32>)
  return
}
