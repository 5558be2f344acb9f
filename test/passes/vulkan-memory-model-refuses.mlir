// vulkan-memory-model leaves alone what is not in SPIR-V. It has no options.
// RUN: mlir-gemm opt %s vulkan-memory-model | FileCheck %s
// RUN: not mlir-gemm opt %s 'vulkan-memory-model{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'vulkan-memory-model' has no option 'a' (options: none)
// CHECK: func.func @other
// CHECK-NOT: NonPrivatePointer
func.func @other() {
  return
}
