// report-asserts refuses other storage classes. Kernels without assertions stay as they are.
// RUN: mlir-gemm opt %s report-asserts | FileCheck %s
// RUN: not mlir-gemm opt %s 'report-asserts{storage=Workgroup}' 2>&1 | FileCheck %s --check-prefix=STORAGE

// STORAGE: storage must be one of StorageBuffer, CrossWorkgroup
// CHECK: gpu.func @kernel(%{{.*}}: memref<?xf32>) kernel
gpu.module @kernels {
  gpu.func @kernel(%x: memref<?xf32>) kernel {
    gpu.return
  }
}
