// RUN: mlir-gemm opt %s distribute-copies cse | FileCheck %s
// RUN: mlir-gemm opt %s 'distribute-copies{bits=64 unroll=false}' cse | FileCheck %s --check-prefix=LOOP

gpu.module @kernels {
  // 32x64 elements are 256 vectors of 8: two for each of 128 threads, 8 across, so that the second lies 16 rows below.
// CHECK-LABEL: @copy
// CHECK: %[[M:.*]] = gpu.block_id x
// CHECK: %[[K:.*]] = gpu.block_id y
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[ROW:.*]] = arith.divui %[[THREAD]], %[[C8]]
// CHECK: %[[VECTOR:.*]] = arith.remui %[[THREAD]], %[[C8]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[VECTOR]], %[[C8]]
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BELOW:.*]] = arith.addi %[[ROW]], %[[C16]]
// CHECK: %[[I:.*]] = arith.addi %[[M]], %[[ROW]]
// CHECK: %[[J:.*]] = arith.addi %[[K]], %[[COLUMN]]
// CHECK: %[[FIRST:.*]] = vector.load %{{.*}}[%[[I]], %[[J]]] {alignment = 16 : i64} {{.*}}, vector<8xf16>
// CHECK: %[[I2:.*]] = arith.addi %[[M]], %[[BELOW]]
// CHECK: %[[SECOND:.*]] = vector.load %{{.*}}[%[[I2]], %[[J]]] {alignment = 16 : i64}
// CHECK: vector.store %[[FIRST]], %[[BUFFER:.*]][%[[ROW]], %[[COLUMN]]] {alignment = 16 : i64}
// CHECK: vector.store %[[SECOND]], %[[BUFFER]][%[[BELOW]], %[[COLUMN]]] {alignment = 16 : i64}

// LOOP-LABEL: @copy
// LOOP: %[[THREAD:.*]] = gpu.thread_id x
// LOOP: scf.for %[[ROUND:.*]] = %{{.*}} to %[[C4:.*]] step %{{.*}} {
// LOOP: %[[C128:.*]] = arith.constant 128 : index
// LOOP: %[[BEFORE:.*]] = arith.muli %[[ROUND]], %[[C128]]
// LOOP: %[[LINEAR:.*]] = arith.addi %[[THREAD]], %[[BEFORE]]
// LOOP: arith.divui %[[LINEAR]], %[[C16:.*]] : index
// LOOP: arith.remui %[[LINEAR]], %[[C16]] : index
// LOOP: vector.load {{.*}} {alignment = 8 : i64} : memref<256x256xf16>, vector<4xf16>
// LOOP: vector.store {{.*}} {alignment = 8 : i64}
// LOOP: }
  gpu.func @copy(%A: memref<256x256xf16>, %buffer: memref<32x64xf16, strided<[72, 1]>, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %m = gpu.block_id x
    %k = gpu.block_id y
    "tile.copy"(%buffer, %A, %m, %k) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x64xf16, strided<[72, 1]>, 3>, memref<256x256xf16>, index, index) -> ()
    gpu.return
  }

  // 32 threads are no multiple of the 5 vectors across: each round divides.
// CHECK-LABEL: @uneven
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[C5:.*]] = arith.constant 5 : index
// CHECK: arith.divui %[[THREAD]], %[[C5]]
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[THREAD]], %[[C32]]
// CHECK: arith.divui %[[NEXT]], %[[C5]]
// CHECK: arith.remui %[[NEXT]], %[[C5]]
  gpu.func @uneven(%A: memref<256x256xf16>, %buffer: memref<32x40xf16, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    "tile.copy"(%buffer, %A, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x40xf16, 3>, memref<256x256xf16>, index, index) -> ()
    gpu.return
  }

  // A tile held in registers is loaded where it is loaded, and stored where it is stored. The warp's tile is not touched.
// CHECK-LABEL: @late
// CHECK: %[[FIRST:.*]] = vector.load
// CHECK: %[[SECOND:.*]] = vector.load
// CHECK: gpu.barrier
// CHECK: vector.store %[[FIRST]],
// CHECK: vector.store %[[SECOND]],
// CHECK: "tile.load"{{.*}}scope = "warp"

// LOOP-LABEL: @late
// LOOP-NOT: scf.for
// LOOP: gpu.barrier
  gpu.func @late(%A: memref<256x256xf32>, %buffer: memref<16x16xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = gpu.block_id x
    %tile = "tile.load"(%A, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<256x256xf32>, index, index) -> vector<16x16xf32>
    gpu.barrier
    "tile.store"(%tile, %buffer, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<16x16xf32, 3>, index, index) -> ()
    %warp = "tile.load"(%A, %m, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<256x256xf32>, index, index) -> vector<16x16xf32>
    gpu.return
  }
}
