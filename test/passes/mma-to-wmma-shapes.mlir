// mma-to-wmma with the other shapes of WMMA: 32x8x16 and 8x32x16.
// RUN: mlir-gemm opt %s 'mma-to-wmma{instruction=32,8,16}' cse canonicalize | FileCheck %s --check-prefix=TALL
// RUN: mlir-gemm opt %s 'mma-to-wmma{instruction=8,32,16}' cse canonicalize | FileCheck %s --check-prefix=LONG

gpu.module @kernels {
  // The same 32x32 product: four fragments side by side, which share one of A, or four below each other, which share one
  // of B.
// TALL-LABEL: @product
// TALL: gpu.subgroup_mma_load_matrix %[[C:.*]][%c0, %c8] {{.*}} -> !gpu.mma_matrix<32x8xf32, "COp">
// TALL: %[[A:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%c0, %c0] {leadDimension = 24 : index} {{.*}} -> !gpu.mma_matrix<32x16xf16, "AOp">
// TALL: %[[B0:.*]] = gpu.subgroup_mma_load_matrix %[[B:.*]][%c0, %c0] {leadDimension = 40 : index} {{.*}} -> !gpu.mma_matrix<16x8xf16, "BOp">
// TALL: %[[D0:.*]] = gpu.subgroup_mma_compute %[[A]], %[[B0]]
// TALL: %[[B1:.*]] = gpu.subgroup_mma_load_matrix %[[B]][%c0, %c8]
// TALL: %[[D1:.*]] = gpu.subgroup_mma_compute %[[A]], %[[B1]]
// TALL-COUNT-2: gpu.subgroup_mma_compute %[[A]]
// TALL-NOT: gpu.subgroup_mma_compute
// TALL: gpu.subgroup_mma_store_matrix %[[D0]], %[[C]][%c0, %c0] {leadDimension = 64 : index}
// TALL: gpu.subgroup_mma_store_matrix %[[D1]], %[[C]][%c0, %c8]
// TALL-COUNT-2: gpu.subgroup_mma_store_matrix
// TALL-NOT: gpu.subgroup_mma_store_matrix
// LONG-LABEL: @product
// LONG: gpu.subgroup_mma_load_matrix %[[C:.*]][%c8, %c0] {{.*}} -> !gpu.mma_matrix<8x32xf32, "COp">
// LONG: %[[A0:.*]] = gpu.subgroup_mma_load_matrix %[[A:.*]][%c0, %c0] {leadDimension = 24 : index} {{.*}} -> !gpu.mma_matrix<8x16xf16, "AOp">
// LONG: %[[A1:.*]] = gpu.subgroup_mma_load_matrix %[[A]][%c8, %c0]
// LONG-COUNT-2: gpu.subgroup_mma_load_matrix %[[A]]
// LONG: %[[B:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%c0, %c0] {leadDimension = 40 : index} {{.*}} -> !gpu.mma_matrix<16x32xf16, "BOp">
// LONG: %[[D0:.*]] = gpu.subgroup_mma_compute %[[A0]], %[[B]]
// LONG: %[[D1:.*]] = gpu.subgroup_mma_compute %[[A1]], %[[B]]
// LONG-COUNT-2: gpu.subgroup_mma_compute %{{.*}}, %[[B]]
// LONG-NOT: gpu.subgroup_mma_compute
// LONG: gpu.subgroup_mma_store_matrix %[[D0]], %[[C]][%c0, %c0] {leadDimension = 64 : index}
// LONG: gpu.subgroup_mma_store_matrix %[[D1]], %[[C]][%c8, %c0]
// LONG-COUNT-2: gpu.subgroup_mma_store_matrix
// LONG-NOT: gpu.subgroup_mma_store_matrix
  gpu.func @product(%A: memref<32x16xf16, strided<[24, 1]>, 3>, %B: memref<16x32xf16, strided<[40, 1]>, 3>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<64x64xf32>, index, index) -> vector<32x32xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, strided<[24, 1]>, 3>, memref<16x32xf16, strided<[40, 1]>, 3>, vector<32x32xf32>) -> vector<32x32xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x32xf32>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }

  // Operands that are stored the other way round, in two steps of k.
// TALL-LABEL: @orders
// TALL: %[[A:.*]] = gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 40 : index, transpose} {{.*}} -> !gpu.mma_matrix<32x16xf16, "AOp">
// TALL: %[[B:.*]] = gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 32 : index, transpose} {{.*}} -> !gpu.mma_matrix<16x8xf16, "BOp">
// TALL: gpu.subgroup_mma_compute %[[A]], %[[B]], %{{.*}} {a_transpose, b_transpose}
// TALL-COUNT-7: gpu.subgroup_mma_compute
// TALL-NOT: gpu.subgroup_mma_compute
// LONG-LABEL: @orders
// LONG: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 40 : index, transpose} {{.*}} -> !gpu.mma_matrix<8x16xf16, "AOp">
// LONG: gpu.subgroup_mma_load_matrix %{{.*}} {leadDimension = 32 : index, transpose} {{.*}} -> !gpu.mma_matrix<16x32xf16, "BOp">
// LONG-COUNT-8: gpu.subgroup_mma_compute %{{.*}} {a_transpose, b_transpose}
// LONG-NOT: gpu.subgroup_mma_compute
  gpu.func @orders(%A: memref<32x32xf16, strided<[40, 1]>, 3>, %B: memref<32x32xf16, 3>, %C: memref<32x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "km", b = "nk", scope = "warp"} : (memref<32x32xf16, strided<[40, 1]>, 3>, memref<32x32xf16, 3>, vector<32x32xf32>) -> vector<32x32xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x32xf32>, memref<32x32xf32>, index, index) -> ()
    gpu.return
  }
}
