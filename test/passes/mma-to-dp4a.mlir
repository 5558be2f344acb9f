// mma-to-dp4a: products of warp tiles of bytes become dp4a of lanes, and everything done to the accumulator becomes
// code of each lane.
// RUN: mlir-gemm opt %s mma-to-dp4a cse | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-dp4a mma-to-dp4a cse | FileCheck %s

gpu.module @kernels {
  // 16 x 8 elements for 4 x 8 lanes: 4 rows of a column each. K runs along the rows of both: eight bytes are loaded at
  // once, two words, of which each is multiplied with one of the other side.
// CHECK-LABEL: @along
// CHECK: %[[A0:.*]] = vector.load %{{.*}} {alignment = 8 : i64} : memref<16x8xi8, 3>, vector<8xi8>
// CHECK: %[[W0:.*]] = vector.bitcast %[[A0]] : vector<8xi8> to vector<2xi32>
// CHECK: %[[W00:.*]] = vector.extract %[[W0]][0]
// CHECK: %[[F00:.*]] = vector.from_elements %[[W00]] : vector<1xi32>
// CHECK: %[[B00:.*]] = vector.bitcast %[[F00]] : vector<1xi32> to vector<4xi8>
// CHECK-COUNT-3: vector.load %{{.*}} : memref<16x8xi8, 3>, vector<8xi8>
// CHECK: vector.load %{{.*}} : memref<8x8xi8, 3>, vector<8xi8>
// CHECK: %[[D:.*]] = nvvm.dot.accumulate.4way %[[B00]] <unsigned>, %{{.*}} <signed>, %{{.*}} : vector<4xi8>, vector<4xi8>
// CHECK-COUNT-3: nvvm.dot.accumulate.4way
// CHECK: nvvm.dot.accumulate.4way %{{.*}} <unsigned>, %{{.*}} <signed>, %[[D]]
// CHECK-COUNT-3: nvvm.dot.accumulate.4way
// CHECK-NOT: nvvm.dot.accumulate.4way
// CHECK-COUNT-4: memref.store
  gpu.func @along(%A: memref<16x8xi8, 3>, %B: memref<8x8xi8, 3>, %C: memref<16x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : vector<16x8xi32>
    %d = "tile.mma"(%A, %B, %zero) {a = "mk", b = "nk", scope = "warp", unsigned = "a"} : (memref<16x8xi8, 3>, memref<8x8xi8, 3>, vector<16x8xi32>) -> vector<16x8xi32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x8xi32>, memref<16x8xi32>, index, index) -> ()
    gpu.return
  }

  // K runs across the rows: a word is picked from four of them.
// CHECK-LABEL: @across
// CHECK-COUNT-4: memref.load %{{.*}} : memref<4x4xi8, 3>
// CHECK: %[[A:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi8>
// CHECK-COUNT-4: memref.load %{{.*}} : memref<4x8xi8, 3>
// CHECK: %[[B:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi8>
// CHECK: nvvm.dot.accumulate.4way %[[A]] <signed>, %[[B]] <signed>, %{{.*}} : vector<4xi8>, vector<4xi8>
// CHECK-NOT: nvvm.dot.accumulate.4way
  gpu.func @across(%A: memref<4x4xi8, 3>, %B: memref<4x8xi8, 3>, %C: memref<4x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : vector<4x8xi32>
    %d = "tile.mma"(%A, %B, %zero) {a = "km", b = "kn", scope = "warp"} : (memref<4x4xi8, 3>, memref<4x8xi8, 3>, vector<4x8xi32>) -> vector<4x8xi32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<4x8xi32>, memref<4x8xi32>, index, index) -> ()
    gpu.return
  }
}
