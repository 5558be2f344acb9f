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

// The warpgroup's number.
// CHECK-LABEL: gpu.func @groups(
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK-NEXT: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %[[THREAD]], %[[THREADS]] : index
// CHECK-NEXT: memref.store %[[GROUP]]
gpu.module @others {
  gpu.func @groups(%out: memref<4xindex>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %group = "tile.unit_id"() {unit = "warpgroup"} : () -> index
    memref.store %group, %out[%group] : memref<4xindex>
    gpu.return
  }
}

// The block's number in its cluster.
// CHECK-LABEL: gpu.func @ranks(
// CHECK: %[[NUMBER:.*]] = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
// CHECK-NEXT: %[[RANK:.*]] = arith.index_castui %[[NUMBER]] : i32 to index
// CHECK-NEXT: memref.store %[[RANK]]
gpu.module @clusters {
  gpu.func @ranks(%out: memref<4xindex>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %rank = "tile.rank"() : () -> index
    memref.store %rank, %out[%rank] : memref<4xindex>
    gpu.return
  }
}
