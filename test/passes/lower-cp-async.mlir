// lower-cp-async: tile.commit and tile.await become nvgpu operations.
// RUN: mlir-gemm opt %s lower-cp-async | FileCheck %s
// RUN: mlir-gemm opt %s lower-cp-async lower-cp-async | FileCheck %s

// The wait in the loop takes the group made in front of it; what it waits for is a matter of the number alone.
// CHECK-LABEL: @stream
// CHECK: %[[FIRST:.*]] = nvgpu.device_async_create_group {tile.commit}
// CHECK: scf.for
// CHECK: nvgpu.device_async_wait %[[FIRST]] {numGroups = 1 : i32}
// CHECK: nvgpu.device_async_create_group {tile.commit}
// CHECK: }
// CHECK: nvgpu.device_async_wait %[[FIRST]] {numGroups = 0 : i32}
gpu.module @kernels {
  gpu.func @stream(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    "tile.commit"() : () -> ()
    scf.for %i = %c0 to %n step %c1 {
      "tile.await"() {pending = 1 : i64} : () -> ()
      "tile.commit"() : () -> ()
    }
    "tile.await"() {pending = 0 : i64} : () -> ()
    gpu.return
  }
}
