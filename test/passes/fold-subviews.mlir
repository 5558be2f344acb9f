// fold-subviews: accesses through a subview become accesses of what it is a view of.
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

// CHECK-LABEL: @lanes
// CHECK-SAME: %[[RING:[^:]*]]: memref<2x32x64xf16, 3>, %[[M:[^:]*]]: memref<128x128xf16>, %[[STAGE:[^:]*]]: index, %[[I:[^:]*]]: index
// CHECK-NOT: memref.subview
// CHECK: %[[ROW:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK: nvgpu.ldmatrix %[[RING]][%[[STAGE]], %[[ROW]], %[[I]]] {numTiles = 4 : i32, transpose = false} : memref<2x32x64xf16, 3> -> vector<4x2xf16>
// CHECK: %[[FROM:.*]] = arith.addi %[[I]], %[[I]]
// CHECK: nvgpu.device_async_copy %[[M]][%[[FROM]], %{{.*}}], %[[RING]][%[[STAGE]], %{{.*}}, %[[I]]], 8, %[[I]] {bypassL1} : memref<128x128xf16> to memref<2x32x64xf16, 3>
// CHECK: memref.load %[[RING]][%[[STAGE]], %[[I]], %[[I]]]
// CHECK: memref.store %{{.*}}, %[[RING]][%[[STAGE]], %[[I]], %[[I]]]
func.func @lanes(%ring: memref<2x32x64xf16, 3>, %m: memref<128x128xf16>, %stage: index, %i: index) -> vector<4x2xf16> {
  %tile = memref.subview %ring[%stage, 0, 0] [1, 32, 64] [1, 1, 1] : memref<2x32x64xf16, 3> to memref<32x64xf16, strided<[64, 1], offset: ?>, 3>
  %part = memref.subview %tile[8, 0] [16, 64] [1, 1] : memref<32x64xf16, strided<[64, 1], offset: ?>, 3> to memref<16x64xf16, strided<[64, 1], offset: ?>, 3>
  %from = memref.subview %m[%i, 0] [32, 128] [1, 1] : memref<128x128xf16> to memref<32x128xf16, strided<[128, 1], offset: ?>>
  %f = nvgpu.ldmatrix %part[%i, %i] {numTiles = 4 : i32, transpose = false} : memref<16x64xf16, strided<[64, 1], offset: ?>, 3> -> vector<4x2xf16>
  %token = nvgpu.device_async_copy %from[%i, %i], %part[%i, %i], 8, %i {bypassL1} : memref<32x128xf16, strided<[128, 1], offset: ?>> to memref<16x64xf16, strided<[64, 1], offset: ?>, 3>
  %x = memref.load %tile[%i, %i] : memref<32x64xf16, strided<[64, 1], offset: ?>, 3>
  memref.store %x, %tile[%i, %i] : memref<32x64xf16, strided<[64, 1], offset: ?>, 3>
  return %f : vector<4x2xf16>
}
