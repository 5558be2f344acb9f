// mma-to-coop-matrix: products of warp tiles become operations on cooperative matrices.
// RUN: mlir-gemm opt %s mma-to-coop-matrix | FileCheck %s
// RUN: mlir-gemm opt %s 'mma-to-coop-matrix{instruction=8x8x16 subgroup=16}' | FileCheck %s --check-prefix=NARROW

// Two by two matrices; B is stored as nk.
// CHECK-LABEL: gpu.func @product
// CHECK: %[[ZERO:.*]] = gpu.subgroup_mma_constant_matrix {{.*}} : !gpu.mma_matrix<16x16xf32, "COp">
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK-COUNT-2: gpu.subgroup_mma_load_matrix {{.*}} {leadDimension = 16 : index} {{.*}} !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: gpu.subgroup_mma_load_matrix {{.*}} {leadDimension = 24 : index, transpose} {{.*}} !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK-COUNT-2: gpu.subgroup_mma_compute {{.*}} {b_transpose}
// CHECK-COUNT-4: gpu.subgroup_mma_store_matrix {{.*}} {leadDimension = 36 : index}

// Subgroups of 16 lanes: two have two of the four columns of matrices each.
// NARROW-LABEL: gpu.func @product
// NARROW: %[[THREAD:.*]] = gpu.thread_id x
// NARROW: %[[LANE:.*]] = arith.remui %[[THREAD]],
// NARROW: %[[PART:.*]] = arith.divui %[[LANE]],
// NARROW: arith.muli %[[PART]],
// NARROW-COUNT-8: gpu.subgroup_mma_store_matrix
// NARROW-NOT: gpu.subgroup_mma_store_matrix
// NARROW: gpu.func @sum
gpu.module @kernels {
  gpu.func @product(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = memref.alloc() : memref<32x16xf16, 3>
    %b = memref.alloc() : memref<32x16xf16, strided<[24, 1]>, 3>
    %c = memref.alloc() : memref<32x32xf32, strided<[36, 1]>, 3>
    %z = arith.constant dense<0.0> : vector<32x32xf32>
    %s = scf.for %k = %zero to %n step %one iter_args(%x = %z) -> vector<32x32xf32> {
      %ab = "tile.mma"(%a, %b, %x) {a = "mk", b = "nk", scope = "warp"} : (memref<32x16xf16, 3>, memref<32x16xf16, strided<[24, 1]>, 3>, vector<32x32xf32>) -> vector<32x32xf32>
      scf.yield %ab : vector<32x32xf32>
    }
    "tile.store"(%s, %c, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<32x32xf32>, memref<32x32xf32, strided<[36, 1]>, 3>, index, index) -> ()
    gpu.return
  }

  // Arithmetic on whole matrices.
  // CHECK-LABEL: gpu.func @sum
  // CHECK: %[[AB:.*]] = gpu.subgroup_mma_compute
  // CHECK: %[[C:.*]] = gpu.subgroup_mma_load_matrix %arg0
  // CHECK: %[[SUM:.*]] = gpu.subgroup_mma_elementwise addf %[[AB]], %[[C]]
  // CHECK: %[[D:.*]] = gpu.subgroup_mma_elementwise truncf %[[SUM]] : {{.*}} -> !gpu.mma_matrix<16x16xf16, "COp">
  // CHECK: gpu.subgroup_mma_store_matrix %[[D]], %arg1
  gpu.func @sum(%C: memref<16x16xf32>, %D: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %c = "tile.load"(%C, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %ab = "tile.mma"(%a, %a, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %sum = arith.addf %ab, %c : vector<16x16xf32>
    %d = arith.truncf %sum : vector<16x16xf32> to vector<16x16xf16>
    "tile.store"(%d, %D, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf16>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}
