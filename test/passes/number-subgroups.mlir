// number-subgroups: the number of a thread is that of its subgroup, times the lanes of one, and that of its lane.
// RUN: mlir-gemm opt %s 'number-subgroups{size=16}' | FileCheck %s
// RUN: mlir-gemm opt %s 'number-subgroups{size=16}' 'number-subgroups{size=16}' | FileCheck %s

// CHECK: %[[GROUP:.*]] = gpu.subgroup_id : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %{{.*}}
// CHECK: %[[LANE:.*]] = gpu.lane_id
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[LANE]]
// CHECK-NOT: gpu.thread_id
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[NUMBER]]]
gpu.module @kernels {
  gpu.func @kernel(%a: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %row = gpu.thread_id x
    memref.store %x, %a[%row] : memref<64xf32>
    gpu.return
  }
}
