// What vulkan-interface refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s vulkan-interface 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'vulkan-interface{environment=metal}' 2>&1 | FileCheck %s --check-prefix=ENVIRONMENT

// ENVIRONMENT: error: pass 'vulkan-interface': environment 'metal'; expected one of vulkan1.1

gpu.module @kernels {
  // CHECK: vulkan-interface-refuses.mlir:[[# @LINE + 1]]:3: error: a kernel without known_block_size; expected blocks of a constant size
  gpu.func @size(%a: memref<8xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: vulkan-interface-refuses.mlir:[[# @LINE + 1]]:3: error: an argument of memref<8xi4>; expected f16, bf16, f32
  gpu.func @type(%a: memref<8xi4>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    gpu.return
  }
}
