// RUN: mlir-gemm opt %s lower-unit-ids | FileCheck %s
// RUN: mlir-gemm opt %s lower-unit-ids lower-unit-ids | FileCheck %s

// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK-NEXT: %[[LANES:.*]] = arith.constant 32 : index
// CHECK-NEXT: %[[WARP:.*]] = arith.divui %[[THREAD]], %[[LANES]] : index
// CHECK-NEXT: memref.store %[[WARP]], %{{.*}}[%[[WARP]]]
// CHECK-NOT: gpu.thread_id
gpu.module @kernels {
  gpu.func @kernel(%out: memref<4xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %warp = "tile.unit_id"() : () -> index
    memref.store %warp, %out[%warp] : memref<4xindex>
    gpu.return
  }
}
