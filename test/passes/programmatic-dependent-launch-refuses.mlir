// What programmatic-dependent-launch refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s programmatic-dependent-launch 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @load(%A: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: programmatic-dependent-launch-refuses.mlir:[[# @LINE + 1]]:10: error: 'memref.load' in front of the first barrier; the kernel cannot start early
    %a = memref.load %A[%c0] : memref<4xf32>
    gpu.barrier
    memref.store %a, %A[%c0] : memref<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @inside(%A: memref<4xf32>, %x: f32, %is: i1) kernel {
    %c0 = arith.constant 0 : index
    scf.if %is {
      // CHECK: programmatic-dependent-launch-refuses.mlir:[[# @LINE + 1]]:7: error: 'memref.store' in front of the first barrier; the kernel cannot start early
      memref.store %x, %A[%c0] : memref<4xf32>
    }
    gpu.barrier
    gpu.return
  }
}
