// coop-matrix-epilogue: what is done to accumulators after the k loop is done to tiles in shared memory.
// RUN: mlir-gemm opt %s coop-matrix-epilogue | FileCheck %s
// RUN: mlir-gemm opt %s coop-matrix-epilogue coop-matrix-epilogue | FileCheck %s

// D = relu(A B + C) as f16, in two chunks of 16 rows, each of two warps in its part of the scratch; A B itself is stored
// from its fragments.
// CHECK-LABEL: gpu.func @product
// CHECK: %[[AB:.*]] = "tile.mma"
// CHECK: %[[SCRATCH:.*]] = memref.alloc() : memref<32x20xf32, 3>
// CHECK: %[[WARP:.*]] = "tile.unit_id"()
// CHECK: %[[PART:.*]] = memref.subview %[[SCRATCH]]
// CHECK: gpu.barrier
// CHECK: %[[UPPER:.*]] = vector.extract_strided_slice %[[AB]] {offsets = [0, 0], sizes = [16, 16]
// CHECK: "tile.store"(%[[UPPER]], %[[PART]], {{.*}}scope = "warp"
// CHECK: gpu.barrier
// CHECK: %[[X:.*]] = "tile.load"(%[[PART]], {{.*}} -> vector<16x16xf32>
// CHECK: %[[C:.*]] = "tile.load"(%{{.*}}, {{.*}} -> vector<16x16xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[C]] : vector<16x16xf32>
// CHECK: arith.maximumf %[[SUM]]
// CHECK: %[[D:.*]] = arith.truncf {{.*}} vector<16x16xf16>
// CHECK: "tile.store"(%[[D]], {{.*}} : (vector<16x16xf16>, memref<64x32xf16>
// CHECK: gpu.barrier
// CHECK: vector.extract_strided_slice %[[AB]] {offsets = [16, 0], sizes = [16, 16]
// CHECK: gpu.barrier
// CHECK: "tile.load"
// CHECK: "tile.store"(%{{.*}}, {{.*}} : (vector<16x16xf16>, memref<64x32xf16>
// CHECK: "tile.store"(%[[AB]], {{.*}} : (vector<32x16xf32>, memref<64x32xf32>
// CHECK-NOT: tile.store
gpu.module @kernels {
  gpu.func @product(%C: memref<64x32xf32>, %D: memref<64x32xf16>, %AB: memref<64x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : index
    %a = memref.alloc() : memref<32x16xf16, 3>
    %b = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<32x16xf32>
    %ab = "tile.mma"(%a, %b, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, 3>, memref<16x16xf16, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    %c = "tile.load"(%C, %zero, %zero) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<64x32xf32>, index, index) -> vector<32x16xf32>
    %sum = arith.addf %ab, %c : vector<32x16xf32>
    %relu = arith.maximumf %sum, %z : vector<32x16xf32>
    %d = arith.truncf %relu : vector<32x16xf32> to vector<32x16xf16>
    "tile.store"(%d, %D, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<32x16xf16>, memref<64x32xf16>, index, index) -> ()
    "tile.store"(%ab, %AB, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<32x16xf32>, memref<64x32xf32>, index, index) -> ()
    gpu.return
  }

  // A store that may reach over the edge goes through shared memory too.
  // CHECK-LABEL: gpu.func @ragged
  // CHECK: %[[AB:.*]] = "tile.mma"
  // CHECK: memref.alloc() : memref<16x20xf32, 3>
  // CHECK: "tile.store"(%[[AB]], {{.*}} memref<16x16xf32,
  // CHECK: %[[X:.*]] = "tile.load"
  // CHECK: "tile.store"(%[[X]], {{.*}} memref<15x16xf32>
  gpu.func @ragged(%D: memref<15x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %ab = "tile.mma"(%a, %a, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%ab, %D, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf32>, memref<15x16xf32>, index, index) -> ()
    gpu.return
  }

  // Sums and conversions of whole matrices stay, where they are loaded and stored as they lie.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-NOT: gpu.barrier
  // CHECK: arith.truncf {{.*}} : vector<16x16xf32> to vector<16x16xf16>
  gpu.func @whole(%C: memref<16x16xf32>, %D: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %ab = "tile.mma"(%a, %a, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %c = "tile.load"(%C, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %sum = arith.addf %ab, %c : vector<16x16xf32>
    %d = arith.truncf %sum : vector<16x16xf32> to vector<16x16xf16>
    "tile.store"(%d, %D, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf16>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}
