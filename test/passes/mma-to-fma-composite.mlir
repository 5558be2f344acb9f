// mma-to-fma: lanes load elements of B whole; of dual numbers nothing is multiplied where both components are the
// infinitesimal ones, number by number.
// RUN: mlir-gemm opt %s 'mma-to-fma{singly=true}' cse | FileCheck %s

// A tile of 4 x 16 for 4 x 8 lanes: a row of one element each, re and e. For one element along k: a0 b0, a0 b1, a1 b0.
// CHECK-LABEL: @product
//   CHECK-NOT: tile.composite
//       CHECK: %[[PAIR:.*]] = vector.load %{{.*}} {alignment = 8 : i64} : memref<1x16xf32{{.*}}3>, vector<2xf32>
//       CHECK: %[[B0:.*]] = vector.extract %[[PAIR]][0]
//       CHECK: %[[B1:.*]] = vector.extract %[[PAIR]][1]
//       CHECK: %[[V0:.*]] = vector.broadcast %[[B0]] : f32 to vector<1xf32>
//       CHECK: %[[V1:.*]] = vector.broadcast %[[B1]] : f32 to vector<1xf32>
//       CHECK: vector.fma %[[A0:.*]], %[[V0]], %{{.*}} : vector<1xf32>
//       CHECK: %[[SECOND:.*]] = vector.fma %[[A0]], %[[V1]], %{{.*}} : vector<1xf32>
//       CHECK: vector.fma %{{.*}}, %[[V0]], %[[SECOND]] : vector<1xf32>
//   CHECK-NOT: vector.fma
gpu.module @kernels {
  gpu.func @product(%C: memref<4x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<4x16xf32>
    %a = memref.alloc() : memref<4x2xf32, 3>
    %b = memref.alloc() : memref<1x16xf32, 3>
    %w = "tile.composite"(%b) {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>} : (memref<1x16xf32, 3>) -> memref<2x16xf32, 3>
    %d = "tile.mma"(%a, %w, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<4x2xf32, 3>, memref<2x16xf32, 3>, vector<4x16xf32>) -> vector<4x16xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<4x16xf32>, memref<4x16xf32>, index, index) -> ()
    gpu.return
  }
}
