// mma-to-fma: products of warp tiles become multiply-adds of lanes, and everything done to the accumulator becomes
// code of each lane.
// RUN: mlir-gemm opt %s mma-to-fma cse | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-fma mma-to-fma cse | FileCheck %s
// RUN: mlir-gemm opt %s 'mma-to-fma{singly=true}' cse | FileCheck %s --check-prefix=SINGLY

gpu.module @kernels {
  // 16 x 32 elements for 4 x 8 lanes: 4 rows of 4 neighbours each. K runs along the rows of A: four steps are loaded
  // together. Each element of A is multiplied with a vector of B.
// CHECK-LABEL: @product
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[ROW:.*]] = arith.divui %[[LANE]], %c8
// CHECK: %[[COLUMN:.*]] = arith.remui %[[LANE]], %c8
// CHECK: %[[Y:.*]] = arith.muli %[[ROW]], %c4
// CHECK: %[[X:.*]] = arith.muli %[[COLUMN]], %c4
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: %[[A0:.*]] = vector.load %[[A:.*]][%[[Y]], %c0] {alignment = 16 : i64} : memref<16x4xf32, 3>, vector<4xf32>
// CHECK: %[[A00:.*]] = vector.extract %[[A0]][0]
// CHECK: %[[S00:.*]] = vector.broadcast %[[A00]] : f32 to vector<4xf32>
// CHECK-COUNT-3: vector.load %[[A]]
// CHECK: %[[B0:.*]] = vector.load %[[B:.*]][%c0, %[[X]]] {alignment = 16 : i64} : memref<4x32xf32, 3>, vector<4xf32>
// CHECK-COUNT-3: vector.load %[[B]]
// CHECK: %[[D:.*]] = vector.fma %[[S00]], %[[B0]], %[[ZERO]] : vector<4xf32>
// CHECK-COUNT-3: vector.fma
// CHECK: vector.fma %{{.*}}, %{{.*}}, %[[D]]
// CHECK-COUNT-11: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-4: vector.store %{{.*}} {alignment = 16 : i64} : memref<16x32xf32>, vector<4xf32>

// Number by number: down the rows of the first column of B's vector, up those of the second.
// SINGLY-LABEL: @product
// SINGLY: vector.fma %[[A0:.*]], %[[F0:.*]], %[[Z:.*]] : vector<1xf32>
// SINGLY-NEXT: vector.fma %[[A1:.*]], %[[F0]], %[[Z]]
// SINGLY-NEXT: vector.fma %[[A2:.*]], %[[F0]], %[[Z]]
// SINGLY-NEXT: vector.fma %[[A3:.*]], %[[F0]], %[[Z]]
// SINGLY: vector.fma %[[A3]], %[[F1:.*]], %[[Z1:.*]] : vector<1xf32>
// SINGLY-NEXT: vector.fma %[[A2]], %[[F1]], %[[Z1]]
// SINGLY-NEXT: vector.fma %[[A1]], %[[F1]], %[[Z1]]
// SINGLY-NEXT: vector.fma %[[A0]], %[[F1]], %[[Z1]]
// SINGLY-COUNT-56: vector.fma
// SINGLY-NOT: vector.fma
// SINGLY-COUNT-4: vector.store %{{.*}} {alignment = 16 : i64} : memref<16x32xf32>, vector<4xf32>
  gpu.func @product(%A: memref<16x4xf32, 3>, %B: memref<4x32xf32, 3>, %C: memref<16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x32xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x4xf32, 3>, memref<4x32xf32, 3>, vector<16x32xf32>) -> vector<16x32xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x32xf32>, memref<16x32xf32>, index, index) -> ()
    gpu.return
  }

  // Bytes become 32 bits, with their sign or without; a tile of 4 x 8 is one element in each lane. In the other orders
  // neighbours along M are loaded together for A, along K for B.
// CHECK-LABEL: @bytes
// CHECK: %[[LA:.*]] = memref.load %{{.*}} : memref<4x4xi8, 3>
// CHECK: %[[VA:.*]] = vector.from_elements %[[LA]] : vector<1xi8>
// CHECK: arith.extui %[[VA]] : vector<1xi8> to vector<1xi32>
// CHECK: %[[LB:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<8x4xi8, 3>, vector<4xi8>
// CHECK: arith.extsi %[[LB]] : vector<4xi8> to vector<4xi32>
// CHECK: %[[P:.*]] = arith.muli %{{.*}} : vector<1xi32>
// CHECK: arith.addi %[[P]], %{{.*}} : vector<1xi32>
  gpu.func @bytes(%A: memref<4x4xi8, 3>, %B: memref<8x4xi8, 3>, %C: memref<4x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : vector<4x8xi32>
    %d = "tile.mma"(%A, %B, %zero) {a = "km", b = "nk", scope = "warp", unsigned = "a"} : (memref<4x4xi8, 3>, memref<8x4xi8, 3>, vector<4x8xi32>) -> vector<4x8xi32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<4x8xi32>, memref<4x8xi32>, index, index) -> ()
    gpu.return
  }

  // Sizes that are only known when the kernel runs are asked for.
// CHECK-LABEL: @dynamic
// CHECK: %[[ROWS:.*]] = memref.dim %[[C:.*]], %c0
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[ROWS]]
// CHECK: scf.if %[[IN]]
// CHECK: memref.store %{{.*}}, %[[C]]
  gpu.func @dynamic(%A: memref<4x4xf32, 3>, %B: memref<4x8xf32, 3>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<4x8xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<4x4xf32, 3>, memref<4x8xf32, 3>, vector<4x8xf32>) -> vector<4x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: false, true>} : (vector<4x8xf32>, memref<?x?xf32>, index, index) -> ()
    gpu.return
  }

  // Another algebra: its operations in the place of the multiply-add, an equal one once. Operands are extended first.
// CHECK-LABEL: @shortest
// CHECK: %[[INF:.*]] = arith.constant dense<0x7F800000> : vector<1xf32>
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: %[[T:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<1xf32>
// CHECK: arith.minimumf %[[INF]], %[[T]] : vector<1xf32>
// CHECK-COUNT-3: arith.minimumf
// CHECK-NOT: vector.fma
  gpu.func @shortest(%A: memref<4x4xf16, 3>, %B: memref<4x8xf32, 3>, %C: memref<4x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %inf = arith.constant dense<0x7F800000> : vector<4x8xf32>
    %d = "tile.mma"(%A, %B, %inf) {a = "mk", algebra = "arith.minimumf(c, arith.addf(a, b))", b = "kn", scope = "warp"} : (memref<4x4xf16, 3>, memref<4x8xf32, 3>, vector<4x8xf32>) -> vector<4x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<4x8xf32>, memref<4x8xf32>, index, index) -> ()
    gpu.return
  }
  // The sum of squares of differences: a difference is computed once, and its square added by one instruction.
// CHECK-LABEL: @distances
// CHECK: %[[DIFFERENCE:.*]] = arith.subf
// CHECK: vector.fma %[[DIFFERENCE]], %[[DIFFERENCE]], %{{.*}} : vector<1xf32>
// CHECK-COUNT-3: arith.subf
// CHECK-NOT: arith.subf
  gpu.func @distances(%A: memref<4x4xf32, 3>, %B: memref<4x8xf32, 3>, %C: memref<4x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<4x8xf32>
    %d = "tile.mma"(%A, %B, %zero) {a = "mk", algebra = "arith.addf(c, arith.mulf(arith.subf(a, b), arith.subf(a, b)))", b = "kn", scope = "warp"} : (memref<4x4xf32, 3>, memref<4x8xf32, 3>, vector<4x8xf32>) -> vector<4x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<4x8xf32>, memref<4x8xf32>, index, index) -> ()
    gpu.return
  }
}
