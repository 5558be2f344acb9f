// pass-scalars refuses a kernel that does more with a number than load it.
// RUN: not mlir-gemm opt %s pass-scalars 2>&1 | FileCheck %s

module attributes {gpu.container_module} {
  func.func @stored(%a: memref<f32> {tile.role = "in", tile.scalar}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @stored_kernel::@stored_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<f32>)
    return
  }
  gpu.module @stored_kernel {
    gpu.func @stored_kernel(%a: memref<f32>) kernel {
      %z = arith.constant 0.0 : f32
      // CHECK: :[[# @LINE + 1]]:7: error: 'memref.store' on a number that the kernel takes by value; expected loads of it
      memref.store %z, %a[] : memref<f32>
      gpu.return
    }
  }
}
