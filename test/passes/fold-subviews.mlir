// RUN: mlir-gemm opt %s fold-subviews | FileCheck %s
// RUN: mlir-gemm opt %s fold-subviews fold-subviews | FileCheck %s

// A view of a view of one stage: the offsets add up, the alignment stays, no view is left.
// CHECK-LABEL: @nested
// CHECK-SAME: %[[RING:[^:]*]]: memref<2x32x64xf16, 3>, %[[STAGE:[^:]*]]: index, %[[ROW:[^:]*]]: index, %[[COLUMN:[^:]*]]: index
// CHECK-NOT: memref.subview
// CHECK: %[[I:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK: %[[J:.*]] = arith.addi %[[COLUMN]], %{{.*}}
// CHECK: vector.store %{{.*}}, %[[RING]][%[[STAGE]], %[[I]], %[[J]]] {alignment = 16 : i64}
// CHECK: vector.load %[[RING]][%[[STAGE]], %[[ROW]], %[[COLUMN]]] {alignment = 16 : i64}
func.func @nested(%ring: memref<2x32x64xf16, 3>, %stage: index, %row: index, %column: index, %v: vector<8xf16>) -> vector<8xf16> {
  %c0 = arith.constant 0 : index
  %tile = memref.subview %ring[%stage, 0, 0] [1, 32, 64] [1, 1, 1] : memref<2x32x64xf16, 3> to memref<32x64xf16, strided<[64, 1], offset: ?>, 3>
  %part = memref.subview %tile[%row, 16] [16, 16] [1, 1] : memref<32x64xf16, strided<[64, 1], offset: ?>, 3> to memref<16x16xf16, strided<[64, 1], offset: ?>, 3>
  vector.store %v, %part[%c0, %column] {alignment = 16 : i64} : memref<16x16xf16, strided<[64, 1], offset: ?>, 3>, vector<8xf16>
  %w = vector.load %tile[%row, %column] {alignment = 16 : i64} : memref<32x64xf16, strided<[64, 1], offset: ?>, 3>, vector<8xf16>
  return %w : vector<8xf16>
}

// CHECK-LABEL: @fragments
// CHECK-SAME: %[[M:[^:]*]]: memref<32x64xf32, 3>
// CHECK-NOT: memref.subview
// CHECK: gpu.subgroup_mma_load_matrix %[[M]][%{{.*}}, %{{.*}}] {leadDimension = 64 : index} : memref<32x64xf32, 3>
// CHECK: gpu.subgroup_mma_store_matrix %{{.*}}, %[[M]][%{{.*}}, %{{.*}}] {leadDimension = 64 : index}
func.func @fragments(%m: memref<32x64xf32, 3>, %row: index, %column: index) {
  %c0 = arith.constant 0 : index
  %part = memref.subview %m[%row, %column] [16, 16] [1, 1] : memref<32x64xf32, 3> to memref<16x16xf32, strided<[64, 1], offset: ?>, 3>
  %f = gpu.subgroup_mma_load_matrix %part[%c0, %c0] {leadDimension = 64 : index} : memref<16x16xf32, strided<[64, 1], offset: ?>, 3> -> !gpu.mma_matrix<16x16xf32, "COp">
  gpu.subgroup_mma_store_matrix %f, %part[%c0, %c0] {leadDimension = 64 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32, strided<[64, 1], offset: ?>, 3>
  return
}
