// What cooperative-blocks refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'cooperative-blocks{blocks=1}' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mlir-gemm opt %s 'cooperative-blocks{blocks=1025}' 2>&1 | FileCheck %s --check-prefix=MANY

// ONE: error: pass 'cooperative-blocks{blocks=1}': expected 2 to 1024 blocks that wait for each other
// MANY: error: pass 'cooperative-blocks{blocks=1025}': expected 2 to 1024 blocks that wait for each other
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
