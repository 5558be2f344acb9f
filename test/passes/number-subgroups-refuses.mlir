// What number-subgroups refuses: blocks of several dimensions, or that are not of whole subgroups.
// RUN: not mlir-gemm opt %s number-subgroups 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'number-subgroups{size=0}' 2>&1 | FileCheck %s --check-prefix=SIZE

// SIZE: expected a size of at least 1

gpu.module @kernels {
  // CHECK: number-subgroups-refuses.mlir:[[# @LINE + 1]]:3: error: blocks of 48x1x1; expected one dimension, a multiple of 32 threads
  gpu.func @kernel() kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    gpu.return
  }
}
