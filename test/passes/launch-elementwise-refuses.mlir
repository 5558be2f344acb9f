// What launch-elementwise refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'launch-elementwise{threads=100}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mlir-gemm opt --split-input-file %s launch-elementwise 2>&1 | FileCheck %s

// OPTION: error: pass 'launch-elementwise': threads=100; expected a multiple of 32 up to 1024

func.func @dynamic(%n: index, %x: memref<?xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0.0 : f32
  // CHECK: launch-elementwise-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall without mapping and results, from 0 in steps of 1, becomes threads
  scf.forall (%i) = (0) to (%n) step (2) {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @mapped(%x: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0.0 : f32
  // CHECK: launch-elementwise-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall without mapping
  scf.forall (%i) in (4) {
    memref.store %zero, %x[%i] : memref<4xf32>
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @start(%x: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0.0 : f32
  // CHECK: launch-elementwise-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall without mapping
  scf.forall (%i) = (1) to (4) step (1) {
    memref.store %zero, %x[%i] : memref<4xf32>
  }
  return
}
