// limit-registers: ptxas keeps registers low enough for several blocks on one SM.
// RUN: mlir-gemm opt %s limit-registers | FileCheck %s
// RUN: mlir-gemm opt %s 'limit-registers{blocks=4}' 'limit-registers{blocks=2}' | FileCheck %s --check-prefix=TWO

// CHECK-LABEL: func.func @host() {
// CHECK: gpu.func @one() kernel attributes {nvvm.minctasm = 1 : i32}
// CHECK: gpu.func @other() kernel attributes {nvvm.minctasm = 1 : i32}

// TWO: gpu.func @one() kernel attributes {nvvm.minctasm = 2 : i32}
func.func @host() {
  return
}
gpu.module @kernels {
  gpu.func @one() kernel {
    gpu.return
  }
  gpu.func @other() kernel {
    gpu.return
  }
}
