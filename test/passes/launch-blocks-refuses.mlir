// What launch-blocks refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s launch-blocks 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'launch-blocks{threads=48}' 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not mlir-gemm opt %s 'launch-blocks{threads=2048}' 2>&1 | FileCheck %s --check-prefix=MANY

// WARPS: error: pass 'launch-blocks': threads=48; expected a multiple of 32 up to 1024
// MANY: error: pass 'launch-blocks': threads=2048; expected a multiple of 32 up to 1024

func.func @unmapped() {
  // CHECK: launch-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall mapped to #gpu.block<x> becomes a launch
  scf.forall (%i) in (4) {
  }
  return
}

// -----

func.func @threads() {
  // CHECK: launch-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall mapped to #gpu.block<x> becomes a launch
  scf.forall (%i) in (4) {
  } {mapping = [#gpu.thread<x>]}
  return
}

// -----

func.func @dynamic(%n: index) {
  // CHECK: launch-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall without results, from 0 in steps of 1
  scf.forall (%i) = (0) to (%n) step (2) {
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @bounds() {
  // CHECK: launch-blocks-refuses.mlir:[[# @LINE + 1]]:3: error: only an scf.forall without results, from 0 in steps of 1
  scf.forall (%i) = (2) to (8) step (2) {
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @nested() {
  scf.forall (%i) in (4) {
    // CHECK: launch-blocks-refuses.mlir:[[# @LINE + 1]]:5: error: a block loop inside another cannot become a launch
    scf.forall (%j) in (4) {
    } {mapping = [#gpu.block<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}
