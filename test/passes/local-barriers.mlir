// local-barriers: barriers of kernels whose threads hand nothing over through global memory wait for shared memory only.
// RUN: mlir-gemm opt %s local-barriers | FileCheck %s
// RUN: mlir-gemm opt %s local-barriers local-barriers | FileCheck %s

gpu.module @kernels {
  memref.global "private" @shared : memref<64xf32, 3> = uninitialized
  // CHECK-LABEL: gpu.func @apart
  // CHECK: gpu.barrier memfence [#gpu.address_space<workgroup>]
  gpu.func @apart(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
    %t = gpu.thread_id x
    %s = memref.get_global @shared : memref<64xf32, 3>
    %x = memref.load %a[%t] : memref<64xf32>
    memref.store %x, %s[%t] : memref<64xf32, 3>
    gpu.barrier
    %y = memref.load %s[%t] : memref<64xf32, 3>
    memref.store %y, %b[%t] : memref<64xf32>
    gpu.return
  }

  // What is stored to %a is loaded again, maybe by another thread.
  // CHECK-LABEL: gpu.func @through_global
  // CHECK: gpu.barrier{{$}}
  gpu.func @through_global(%a: memref<64xf32>, %x: f32) kernel {
    %t = gpu.thread_id x
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.barrier
    %y = memref.load %a[%t] : memref<64xf32>
    memref.store %y, %a[%t] : memref<64xf32>
    gpu.return
  }

  // Nobody knows what an atomic operation is for.
  // CHECK-LABEL: gpu.func @atomic
  // CHECK: gpu.barrier{{$}}
  gpu.func @atomic(%a: memref<64xi32>, %x: i32) kernel {
    %t = gpu.thread_id x
    %y = memref.atomic_rmw addi %x, %a[%t] : (i32, memref<64xi32>) -> i32
    gpu.barrier
    gpu.return
  }
}
