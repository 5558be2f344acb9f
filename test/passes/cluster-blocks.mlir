// RUN: mlir-gemm opt %s 'cluster-blocks{size=2}' | FileCheck %s
// RUN: mlir-gemm opt %s 'cluster-blocks{size=2}' 'cluster-blocks{size=2}' | FileCheck %s

// CHECK: gpu.func @kernel() kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>}
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
