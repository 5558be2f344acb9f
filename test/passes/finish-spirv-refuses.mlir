// finish-spirv refuses nothing: it leaves modules without kernels in SPIR-V alone.
// RUN: mlir-gemm opt %s finish-spirv | FileCheck %s

// CHECK: gpu.func @kernel()
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
