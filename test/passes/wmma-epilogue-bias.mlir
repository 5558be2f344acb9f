// wmma-epilogue: a number for each column is a vector of its memory, aligned as its elements are; one for each row is
// loaded once and repeated, whatever their stride.
// RUN: mlir-gemm opt %s wmma-epilogue cse canonicalize | FileCheck %s

// CHECK-LABEL: @product
// CHECK-SAME: (%[[COLUMNS:.*]]: memref<16xf16>, %[[ROWS:.*]]: memref<16xf32, strided<[3]>>, %[[D:.*]]: memref<16x16xf32>)
// CHECK: "tile.mma"
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[BIAS:.*]] = vector.load %[[COLUMNS]][%[[COLUMN:.*]]] {alignment = 2 : i64} : memref<16xf16>, vector<8xf16>
// CHECK: %[[X:.*]] = vector.load %{{.*}}[%[[ROW:.*]], %[[COLUMN]]] {alignment = 16 : i64}
// CHECK: %[[ONE:.*]] = memref.load %[[ROWS]][%[[ROW]]]
// CHECK: %[[FACTOR:.*]] = vector.broadcast %[[ONE]] : f32 to vector<8xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %[[BIAS]]
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[WIDE]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[FACTOR]]
// CHECK: vector.store %[[SCALED]], %[[D]][%[[ROW]], %[[COLUMN]]]
gpu.module @kernels {
  gpu.func @product(%bias: memref<16xf16>, %factor: memref<16xf32, strided<[3]>>, %D: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %b = memref.alloc() : memref<16x16xf16, 3>
    %zero = arith.constant dense<0.000000e+00> : vector<16x16xf32>
    %ab = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %v = "tile.load"(%bias, %c0) {operandSegmentSizes = array<i32: 1, 1>, scope = "warp", in_bounds = array<i1: true>} : (memref<16xf16>, index) -> vector<16x16xf16>
    %f = "tile.load"(%factor, %c0) {operandSegmentSizes = array<i32: 1, 1>, scope = "warp", dims = array<i64: 0>, in_bounds = array<i1: true>} : (memref<16xf32, strided<[3]>>, index) -> vector<16x16xf32>
    %w = arith.extf %v : vector<16x16xf16> to vector<16x16xf32>
    %s = arith.addf %ab, %w : vector<16x16xf32>
    %d = arith.mulf %s, %f : vector<16x16xf32>
    "tile.store"(%d, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}
