// What cluster-blocks refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'cluster-blocks{size=0}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mlir-gemm opt %s 'cluster-blocks{size=9}' 2>&1 | FileCheck %s --check-prefix=MANY

// NONE: error: pass 'cluster-blocks{size=0}': expected 1 to 8 blocks in a cluster
// MANY: error: pass 'cluster-blocks{size=9}': expected 1 to 8 blocks in a cluster
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
