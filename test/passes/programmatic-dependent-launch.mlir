// programmatic-dependent-launch: a kernel starts while the one before it in the stream still runs.
// RUN: mlir-gemm opt %s programmatic-dependent-launch | FileCheck %s
// RUN: mlir-gemm opt %s programmatic-dependent-launch programmatic-dependent-launch | FileCheck %s
// RUN: mlir-gemm opt %s 'programmatic-dependent-launch{early=false}' | FileCheck %s --check-prefix=LATE

// The next kernel may start at once; this one touches nothing of the one in front of it until that is done.
// CHECK-LABEL: gpu.func @early(
//  CHECK-SAME: tile.dependent_launch
//  CHECK-NEXT:   nvvm.griddepcontrol launch_dependents
//   CHECK-NOT:   nvvm.griddepcontrol
//       CHECK:   gpu.barrier
//  CHECK-NEXT:   nvvm.griddepcontrol wait
//  CHECK-NEXT:   memref.load
//   CHECK-NOT:   nvvm.griddepcontrol
//       CHECK:   gpu.return
// Or it starts when this one ends.
//  LATE-LABEL: gpu.func @early(
//   LATE-SAME: tile.dependent_launch
//    LATE-NOT:   launch_dependents
//        LATE:   gpu.barrier
//   LATE-NEXT:   nvvm.griddepcontrol wait
gpu.module @kernels {
  gpu.func @early(%A: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %a = memref.load %A[%c0] : memref<4xf32>
    gpu.barrier
    memref.store %a, %A[%thread] : memref<4xf32>
    gpu.return
  }

  // Without preparations the kernel waits at its start.
  // CHECK-LABEL: gpu.func @plain(
  //  CHECK-SAME: tile.dependent_launch
  //  CHECK-NEXT:   nvvm.griddepcontrol launch_dependents
  //  CHECK-NEXT:   nvvm.griddepcontrol wait
  //   CHECK-NOT:   nvvm.griddepcontrol
  //       CHECK:   gpu.return
  gpu.func @plain(%A: memref<4xf32>, %x: f32, %at: index) kernel {
    memref.store %x, %A[%at] : memref<4xf32>
    gpu.return
  }
}
