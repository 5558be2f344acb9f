// What limit-registers refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'limit-registers{blocks=0}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mlir-gemm opt %s 'limit-registers{blocks=33}' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlir-gemm opt %s 'limit-registers{block=2}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: mlir-gemm opt %s limit-registers | FileCheck %s

// NONE: error: pass 'limit-registers': blocks=0; expected 1 to 32
// MANY: error: pass 'limit-registers': blocks=33; expected 1 to 32
// NAME: error: pass 'limit-registers' has no option 'block'; did you mean 'blocks'? (options: blocks)

// Functions that are no kernels' are left alone.
// CHECK: func.func @host() {
func.func @host() {
  return
}
