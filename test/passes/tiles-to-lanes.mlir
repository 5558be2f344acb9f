// tiles-to-lanes: loads, arithmetic and stores of warp tiles without a product become code of each lane.
// RUN: mlir-gemm opt %s tiles-to-lanes | FileCheck %s
// RUN: mlir-gemm opt %s tiles-to-lanes tiles-to-lanes | FileCheck %s

// Four rows of eight lanes, each with four neighbours: 8 rows are two pieces. The last row may not be there.
// CHECK-LABEL: gpu.func @add
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]]
// CHECK: vector.load {{.*}} : memref<8x32xf32, 3>, vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: scf.if
// CHECK-NOT: tile.
gpu.module @kernels {
  gpu.func @add(%D: memref<7x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %s = memref.alloc() : memref<8x32xf32, 3>
    %x = "tile.load"(%s, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<8x32xf32, 3>, index, index) -> vector<8x32xf32>
    %y = arith.addf %x, %x : vector<8x32xf32>
    "tile.store"(%y, %D, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<8x32xf32>, memref<7x32xf32>, index, index) -> ()
    gpu.return
  }
}
