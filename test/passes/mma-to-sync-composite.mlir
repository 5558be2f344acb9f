// mma-to-sync: lanes load elements of B whole, and make their numbers in registers.
// RUN: mlir-gemm opt %s mma-to-sync cse | FileCheck %s

// Complex numbers, re and im beside each other in a word. A lane's column of the result is of a real part where its
// number divided by 4 is even: its numbers along k are then re and -im, else im and re.
// CHECK-LABEL: gpu.func @product(
//   CHECK-NOT:   tile.composite
//       CHECK:   %[[PAIR:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<8x8xf16{{.*}}3>, vector<2xf16>
//       CHECK:   %[[RE:.*]] = vector.extract %[[PAIR]][0]
//       CHECK:   %[[IM:.*]] = vector.extract %[[PAIR]][1]
//       CHECK:   %[[NEGATED:.*]] = arith.negf %[[IM]] : f16
//       CHECK:   %[[FIRST:.*]] = vector.from_elements %[[RE]], %[[NEGATED]] : vector<2xf16>
//       CHECK:   %[[SECOND:.*]] = vector.from_elements %[[IM]], %[[RE]] : vector<2xf16>
//       CHECK:   %[[EVEN:.*]] = arith.cmpi eq, %{{.*}}, %c0 : index
//       CHECK:   %[[ROW:.*]] = arith.select %[[EVEN]], %[[FIRST]], %[[SECOND]] : vector<2xf16>
//       CHECK:   nvgpu.mma.sync
//   CHECK-NOT:   tile.mma
gpu.module @kernels {
  gpu.func @product(%D: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %a = memref.alloc() : memref<16x16xf16, 3>
    %b = memref.alloc() : memref<8x8xf16, 3>
    %w = "tile.composite"(%b) {constants = dense<[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]> : tensor<2x2x2xf64>} : (memref<8x8xf16, 3>) -> memref<16x8xf16, 3>
    %0 = "tile.mma"(%a, %w, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x8xf16, 3>, vector<16x8xf32>) -> vector<16x8xf32>
    "tile.store"(%0, %D, %c0, %c0) {scope = "warp", operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x8xf32>, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }
}
