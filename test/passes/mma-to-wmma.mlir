// mma-to-wmma: products of warp tiles become WMMA operations on fragments, of the shape `instruction`.
// RUN: mlir-gemm opt %s mma-to-wmma cse | FileCheck %s

gpu.module @kernels {
  // A 32x16 accumulator is two fragments; each fragment of B serves both, over K = 32 in two steps.
// CHECK-LABEL: @product
// CHECK: %[[M:.*]] = gpu.block_id x
// CHECK: %[[N:.*]] = arith.constant 16 : index
// CHECK: %[[C0:.*]] = gpu.subgroup_mma_load_matrix %[[C:.*]][%[[M]], %[[N]]] {leadDimension = 64 : index} {{.*}} -> !gpu.mma_matrix<16x16xf32, "COp">
// CHECK: %[[M16:.*]] = arith.addi %[[M]], %[[N]]
// CHECK: %[[C1:.*]] = gpu.subgroup_mma_load_matrix %[[C]][%[[M16]], %[[N]]] {leadDimension = 64 : index}
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[A00:.*]] = gpu.subgroup_mma_load_matrix %[[A:.*]][%[[ZERO]], %[[ZERO]]] {leadDimension = 40 : index} {{.*}} -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: %[[A10:.*]] = gpu.subgroup_mma_load_matrix %[[A]][%[[N]], %[[ZERO]]] {leadDimension = 40 : index}
// CHECK: %[[B0:.*]] = gpu.subgroup_mma_load_matrix %[[B:.*]][%[[ZERO]], %[[ZERO]]] {leadDimension = 24 : index} {{.*}} -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK: %[[D0:.*]] = gpu.subgroup_mma_compute %[[A00]], %[[B0]], %[[C0]]
// CHECK: %[[D1:.*]] = gpu.subgroup_mma_compute %[[A10]], %[[B0]], %[[C1]]
// CHECK: %[[A01:.*]] = gpu.subgroup_mma_load_matrix %[[A]][%[[ZERO]], %[[N]]]
// CHECK: %[[A11:.*]] = gpu.subgroup_mma_load_matrix %[[A]][%[[N]], %[[N]]]
// CHECK: %[[B1:.*]] = gpu.subgroup_mma_load_matrix %[[B]][%[[N]], %[[ZERO]]]
// CHECK: %[[E0:.*]] = gpu.subgroup_mma_compute %[[A01]], %[[B1]], %[[D0]]
// CHECK: %[[E1:.*]] = gpu.subgroup_mma_compute %[[A11]], %[[B1]], %[[D1]]
// CHECK: gpu.subgroup_mma_store_matrix %[[E0]], %[[C]][%[[M]], %[[N]]] {leadDimension = 64 : index}
// CHECK: gpu.subgroup_mma_store_matrix %[[E1]], %[[C]][%[[M16]], %[[N]]] {leadDimension = 64 : index}
  gpu.func @product(%A: memref<32x32xf16, strided<[40, 1]>, 3>, %B: memref<32x16xf16, strided<[24, 1], offset: ?>, 3>, %C: memref<64x64xf32>) kernel {
    %m = gpu.block_id x
    %c16 = arith.constant 16 : index
    %c = "tile.load"(%C, %m, %c16) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<64x64xf32>, index, index) -> vector<32x16xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<32x32xf16, strided<[40, 1]>, 3>, memref<32x16xf16, strided<[24, 1], offset: ?>, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    "tile.store"(%d, %C, %m, %c16) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<32x16xf32>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }

  // Loops carry fragments, and go on carrying what else they carry; a zero is made once; a chunk is some of the fragments.
// CHECK-LABEL: @loops
// CHECK-SAME: %[[START:[^ :]*]]: index) kernel
// CHECK: %[[ZERO:.*]] = gpu.subgroup_mma_constant_matrix
// CHECK: %[[OUTER:.*]]:3 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[X:.*]] = %[[ZERO]], %[[Y:.*]] = %[[ZERO]], %[[P:.*]] = %[[START]])
// CHECK: %[[INNER:.*]]:2 = scf.for {{.*}} iter_args(%[[U:.*]] = %[[X]], %[[V:.*]] = %[[Y]])
// CHECK: %[[D:.*]] = gpu.subgroup_mma_compute %[[A:.*]], %{{.*}}, %[[U]]
// CHECK: %[[E:.*]] = gpu.subgroup_mma_compute %[[A]], %{{.*}}, %[[V]]
// CHECK: scf.yield %[[D]], %[[E]]
// CHECK: } {tile.loop = "warp_k"}
// CHECK: %[[Q:.*]] = arith.addi %[[P]], %[[I]]
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1, %[[Q]]
// CHECK: gpu.subgroup_mma_store_matrix %[[OUTER]]#1, %{{.*}}[%[[OUTER]]#2, %{{.*}}]
// CHECK-NOT: gpu.subgroup_mma_store_matrix
  gpu.func @loops(%A: memref<16x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<16x16xf32, 3>, %start: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.000000e+00> : vector<16x32xf32>
    %sum, %at = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero, %p = %start) -> (vector<16x32xf32>, index) {
      %d = scf.for %k = %c0 to %c4 step %c1 iter_args(%inner = %acc) -> (vector<16x32xf32>) {
        %e = "tile.mma"(%A, %B, %inner) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x32xf16, 3>, vector<16x32xf32>) -> vector<16x32xf32>
        scf.yield %e : vector<16x32xf32>
      } {tile.loop = "warp_k"}
      %q = arith.addi %p, %i : index
      scf.yield %d, %q : vector<16x32xf32>, index
    }
    %half = vector.extract_strided_slice %sum {offsets = [0, 16], sizes = [16, 16], strides = [1, 1]} : vector<16x32xf32> to vector<16x16xf32>
    "tile.store"(%half, %C, %at, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32, 3>, index, index) -> ()
    gpu.return
  }

  // The other orders: both operands are transposed as they are loaded.
// CHECK-LABEL: @orders
// CHECK: %[[A:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%{{.*}}] {leadDimension = 24 : index, transpose} : memref<16x16xf16, strided<[24, 1]>, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: %[[B:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%{{.*}}] {leadDimension = 16 : index, transpose} : memref<32x16xf16, 3> -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK: gpu.subgroup_mma_compute %[[A]], %[[B]], %{{.*}} {a_transpose, b_transpose}
  gpu.func @orders(%A: memref<16x16xf16, strided<[24, 1]>, 3>, %B: memref<32x16xf16, 3>, %C: memref<16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x32xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "km", b = "nk", scope = "warp"} : (memref<16x16xf16, strided<[24, 1]>, 3>, memref<32x16xf16, 3>, vector<16x32xf32>) -> vector<16x32xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x32xf32>, memref<16x32xf32>, index, index) -> ()
    gpu.return
  }

  // One order each, of matrices in global memory: rows of B run along k, at the distance of the whole matrix's.
// CHECK-LABEL: @in_place
// CHECK: %[[K:.*]] = gpu.block_id x
// CHECK: %[[A:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%{{.*}}] {leadDimension = 64 : index} : {{.*}} -> !gpu.mma_matrix<16x16xf16, "AOp">
// CHECK: %[[B:.*]] = gpu.subgroup_mma_load_matrix %{{.*}}[%{{.*}}] {leadDimension = 128 : index, transpose} : {{.*}} -> !gpu.mma_matrix<16x16xf16, "BOp">
// CHECK: gpu.subgroup_mma_compute %[[A]], %[[B]], %{{.*}} {b_transpose}
  gpu.func @in_place(%A: memref<32x64xf16>, %B: memref<96x128xf16>, %C: memref<16x16xf32>) kernel {
    %k = gpu.block_id x
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %a = memref.subview %A[0, %k] [16, 16] [1, 1] : memref<32x64xf16> to memref<16x16xf16, strided<[64, 1], offset: ?>>
    %b = memref.subview %B[0, %k] [16, 16] [1, 1] : memref<96x128xf16> to memref<16x16xf16, strided<[128, 1], offset: ?>>
    %d = "tile.mma"(%a, %b, %zero) {a = "mk", b = "nk", scope = "warp"} : (memref<16x16xf16, strided<[64, 1], offset: ?>>, memref<16x16xf16, strided<[128, 1], offset: ?>>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}
