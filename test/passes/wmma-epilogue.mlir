// wmma-epilogue: arithmetic on the accumulator goes through shared memory, where each lane knows its elements.
// RUN: mlir-gemm opt %s wmma-epilogue cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s 'wmma-epilogue{rows=32 pad=0}' wmma-epilogue | FileCheck %s --check-prefix=ONE

// CHECK-LABEL: @product
// CHECK-DAG: %[[EVERY:.*]] = arith.constant -1 : i32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[AB:.*]] = "tile.mma"
// Two warps of 16 rows each, padded by 4 elements; this warp's part of it.
// CHECK: %[[SCRATCH:.*]] = memref.alloc() : memref<32x20xf32, 3>
// CHECK: %[[WARP:.*]] = "tile.unit_id"()
// CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %{{.*}}
// CHECK: %[[PART:.*]] = memref.subview %[[SCRATCH]][%[[FIRST]], 0] [16, 16] [1, 1]
// CHECK: gpu.barrier
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]],
// CHECK: %[[ROW:.*]] = arith.divui %[[LANE]],
// CHECK: %[[HALF:.*]] = arith.remui %[[LANE]],
// CHECK: %[[COLUMN:.*]] = arith.muli %[[HALF]],
// The upper 16 rows: the warp stores them, each lane takes 8 elements (128 bits of f16).
// CHECK: %[[UPPER:.*]] = vector.extract_strided_slice %[[AB]] {offsets = [0, 0], sizes = [16, 16]
// CHECK: "tile.store"(%[[UPPER]], %[[PART]], {{.*}}scope = "warp"
// CHECK-NEXT: nvvm.bar.warp.sync %[[EVERY]]
// CHECK: %[[X:.*]] = vector.load %[[PART]][%[[ROW]], %[[COLUMN]]] {alignment = 16 : i64}
// CHECK: %[[C:.*]] = vector.load {{.*}} {alignment = 16 : i64} : memref<64x32xf32>, vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[C]] fastmath<nnan> : vector<8xf32>
// CHECK: %[[RELU:.*]] = arith.maximumf %[[SUM]], %[[ZERO]] : vector<8xf32>
// CHECK: %[[D:.*]] = arith.truncf %[[RELU]] : vector<8xf32> to vector<8xf16>
// CHECK: vector.store %[[D]], {{.*}} {alignment = 16 : i64} : memref<64x32xf16>, vector<8xf16>
// CHECK: nvvm.bar.warp.sync %[[EVERY]]
// The lower 16 rows.
// CHECK: vector.extract_strided_slice %[[AB]] {offsets = [16, 0], sizes = [16, 16]
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: vector.store
// CHECK: "tile.store"(%[[AB]], {{.*}} : (vector<32x16xf32>, memref<64x32xf32>, index, index)
// CHECK-LABEL: @plain
// CHECK-NOT: gpu.barrier

// All 32 rows in one chunk, without padding: two vectors for each lane, 16 rows apart. A second run changes nothing.
// ONE-LABEL: @product
// ONE: memref.alloc() : memref<64x16xf32, 3>
// ONE-NOT: memref.alloc
// ONE: vector.extract_strided_slice
// ONE-SAME: offsets = [0, 0], sizes = [32, 16]
// ONE-NOT: vector.extract_strided_slice
// ONE: vector.store
// ONE: vector.store
// ONE-NOT: vector.store
// ONE-LABEL: @plain
gpu.module @kernels {
  // Two warps of 32x16: D = relu(A B + C) as f16, and A B itself as f32.
  gpu.func @product(%C: memref<64x32xf32>, %D: memref<64x32xf16>, %AB: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %m = gpu.block_id x
    %a = memref.alloc() : memref<32x16xf16, 3>
    %b = memref.alloc() : memref<16x16xf16, 3>
    %zero = arith.constant dense<0.000000e+00> : vector<32x16xf32>
    %ab = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, 3>, memref<16x16xf16, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    %c = "tile.load"(%C, %m, %c16) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<64x32xf32>, index, index) -> vector<32x16xf32>
    %sum = arith.addf %ab, %c fastmath<nnan> : vector<32x16xf32>
    %relu = arith.maximumf %sum, %zero : vector<32x16xf32>
    %d = arith.truncf %relu : vector<32x16xf32> to vector<32x16xf16>
    "tile.store"(%d, %D, %m, %c16) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x16xf16>, memref<64x32xf16>, index, index) -> ()
    "tile.store"(%ab, %AB, %m, %c16) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x16xf32>, memref<64x32xf32>, index, index) -> ()
    gpu.return
  }

  // Nothing to do: the accumulator is stored as it is.
  gpu.func @plain(%AB: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %zero = arith.constant dense<0.000000e+00> : vector<16x16xf32>
    %ab = "tile.mma"(%a, %a, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%ab, %AB, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<64x32xf32>, index, index) -> ()
    gpu.return
  }
}

// A number for all elements is one for each lane.
// CHECK-LABEL: @scaled
// CHECK: %[[ALPHA:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK: arith.mulf %{{.*}}, %[[ALPHA]] : vector<4xf32>
gpu.module @scaling {
  gpu.func @scaled(%a: memref<32x16xf16, 3>, %b: memref<16x16xf16, 3>, %D: memref<32x16xf32>, %alpha: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    %factor = vector.broadcast %alpha : f32 to vector<32x16xf32>
    %d = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, 3>, memref<16x16xf16, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    %e = arith.mulf %d, %factor : vector<32x16xf32>
    "tile.store"(%e, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x16xf32>, memref<32x16xf32>, index, index) -> ()
    gpu.return
  }
}
