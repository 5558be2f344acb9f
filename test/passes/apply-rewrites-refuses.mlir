// apply-rewrites refuses a name that nothing is registered as.
// RUN: not mlir-gemm opt %s 'apply-rewrites{only=mine}' 2>&1 | FileCheck %s

// CHECK: error: no rules are registered as 'mine' (registered: none)
func.func @f() {
  return
}
