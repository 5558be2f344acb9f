// What inline-calls refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s inline-calls 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'inline-calls{entry=nowhere}' 2>&1 | FileCheck %s --check-prefix=NOWHERE

// NOWHERE: error: there is no function @nowhere; the module has one, two, outside, calls, recursive, start

// CHECK: error: several functions that no other function calls: @one, @two; choose one with --entry NAME
func.func @one() {
  return
}
func.func @two() {
  return
}

// -----

// CHECK: error: 'func.call' of @outside, which has no body; expected its definition
func.func private @outside()
func.func @calls() {
  call @outside() : () -> ()
  return
}

// -----

// CHECK: error: 'func.call' of @recursive, which calls itself; expected no recursion
func.func private @recursive() {
  call @recursive() : () -> ()
  return
}
func.func @start() {
  call @recursive() : () -> ()
  return
}
