// mma-to-mfma: products of the tiles of waves become AMD's matrix instructions, and everything done to the accumulator
// becomes code of each lane.
// RUN: mlir-gemm opt %s mma-to-mfma cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-mfma mma-to-mfma cse canonicalize | FileCheck %s

gpu.module @kernels {
  // A 32x16 accumulator is two fragments of 16 x 16. Of the 32 along K a lane has 8 neighbours, 16 bytes, which two
  // instructions take half by half. B comes first: the lane's four sums are then neighbours of a row.
// CHECK-LABEL: @product
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c64
// CHECK: %[[NEAR:.*]] = arith.remui %[[LANE]], %c16
// CHECK: %[[FAR:.*]] = arith.divui %[[LANE]], %c16
// CHECK: %[[COLUMN:.*]] = arith.muli %[[FAR]], %c4
// CHECK: %[[K:.*]] = arith.muli %[[FAR]], %c8
// CHECK: %[[A0:.*]] = vector.load %[[A:.*]][%[[NEAR]], %[[K]]] {alignment = 16 : i64} : memref<32x32xf16, strided<[40, 1]>, 3>, vector<8xf16>
// CHECK: vector.load %[[A]]
// CHECK: %[[B0:.*]] = vector.load %[[B:.*]][%[[NEAR]], %[[K]]]
// CHECK-COUNT-4: amdgpu.mfma 16x16x16 %{{.*}} * %{{.*}} + %{{.*}} : vector<4xf16>, vector<4xf16>, vector<4xf32>
// CHECK-NOT: amdgpu.mfma
// CHECK: vector.store %{{.*}}, %[[C:.*]][%[[NEAR]], %[[COLUMN]]] {alignment = 16 : i64} : memref<32x16xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[C]]
// CHECK-NOT: vector.store
  gpu.func @product(%A: memref<32x32xf16, strided<[40, 1]>, 3>, %B: memref<16x32xf16, strided<[40, 1]>, 3>, %C: memref<32x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "mk", b = "nk", scope = "wave"} : (memref<32x32xf16, strided<[40, 1]>, 3>, memref<16x32xf16, strided<[40, 1]>, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    "tile.store"(%d, %C, %c0, %c0) {scope = "wave", dims = array<i64: 0, 1>, in_bounds = array<i1: true, true>} : (vector<32x16xf32>, memref<32x16xf32>, index, index) -> ()
    gpu.return
  }
}
