// cluster-blocks writes on every kernel how many blocks a cluster has, and changes nothing else: not the other attributes of
// a kernel, no function that is no kernel's, not the launch. Run again with another size it writes that one.
// RUN: mlir-gemm opt %s 'cluster-blocks{size=2}' | FileCheck %s
// RUN: mlir-gemm opt %s 'cluster-blocks{size=2}' 'cluster-blocks{size=2}' | FileCheck %s
// RUN: mlir-gemm opt %s 'cluster-blocks{size=8}' 'cluster-blocks{size=2}' | FileCheck %s
// RUN: mlir-gemm opt %s cluster-blocks | FileCheck %s --check-prefix=ONE

module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @host() {
// CHECK:         gpu.launch_func @kernels::@first blocks in (%c4, %c1, %c1) threads in
func.func @host() {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  gpu.launch_func @kernels::@first blocks in (%four, %one, %one) threads in (%one, %one, %one)
  return
}

gpu.module @kernels {
  // CHECK: gpu.func @first() kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.maxnreg = 128 : i32}
  // ONE: gpu.func @first() kernel attributes {nvvm.cluster_dim = array<i32: 1, 1, 1>, nvvm.maxnreg = 128 : i32}
  gpu.func @first() kernel attributes {nvvm.maxnreg = 128 : i32} {
    gpu.return
  }

  // CHECK: gpu.func @second() kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>}
  gpu.func @second() kernel {
    gpu.return
  }
}
}
