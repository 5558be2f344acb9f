// lower-unit-ids: tile.unit_id becomes the number of the thread's warp, or of its warpgroup.
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
// Its row of two, and its column of two in a cluster of several such parts.
// CHECK: %[[ROW:.*]] = arith.remui %{{.*}}, %c2
// CHECK-NEXT: memref.store %[[ROW]]
// CHECK: %[[PAST:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[COLUMN:.*]] = arith.remui %[[PAST]], %c2
// CHECK-NEXT: memref.store %[[COLUMN]]
gpu.module @clusters {
  gpu.func @ranks(%out: memref<4xindex>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %rank = "tile.rank"() : () -> index
    memref.store %rank, %out[%rank] : memref<4xindex>
    %row = "tile.rank"() {count = 2 : i64} : () -> index
    memref.store %row, %out[%row] : memref<4xindex>
    %column = "tile.rank"() {count = 2 : i64, stride = 2 : i64} : () -> index
    memref.store %column, %out[%column] : memref<4xindex>
    gpu.return
  }
}
