// What local-barriers refuses: nothing. It leaves barriers alone of which something is said.
// RUN: mlir-gemm opt %s local-barriers | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @said
  // CHECK: gpu.barrier memfence [#gpu.address_space<global>]
  gpu.func @said(%a: memref<64xf32>) kernel {
    gpu.barrier memfence [#gpu.address_space<global>]
    gpu.return
  }
}
