// tile.unaligned_store in lane code: rows of 70 bytes start 0, 6, 12, 2, 8, 14, 4, 10 bytes after a multiple of 16, and lie so
// in the buffer too. What is a whole vector there is stored at once, the ends of rows element by element.
// RUN: mlir-gemm opt %s mma-to-sync canonicalize cse | FileCheck %s
// RUN: sed -e s/2x16x40xf16/2x8x40xf16/g %s | not mlir-gemm opt - mma-to-sync 2>&1 | FileCheck %s --check-prefix=SMALL

// SMALL: error: {{.*}}16 rows of 32 elements and a vector more in a buffer of memref<2x8x40xf16, 3>; this mma stores 16 rows of a tile at a time

// CHECK-LABEL: gpu.func @product(
//  CHECK-SAME: %[[C:[a-z0-9]*]]: memref<32x35xf16>, %[[S:[a-z0-9]*]]: memref<2x16x40xf16, 3>
//       CHECK: %[[ROW:.*]] = arith.divui %[[LANE:.*]], %c4 : index
//       CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2
//       CHECK: %[[WARP:.*]] = arith.divui %thread_id_x, %c32 : index
//  CHECK-NEXT: nvvm.bar.warp.sync
//       CHECK: %[[STEP:.*]] = arith.muli %[[ROW]], %c3
//  CHECK-NEXT: %[[BEHIND:.*]] = arith.remui %[[STEP]], %c8
//  CHECK-NEXT: %[[AT:.*]] = arith.addi %[[COLUMN]], %[[BEHIND]]
//  CHECK-NEXT: memref.store %{{.*}}, %[[S]][%[[WARP]], %[[ROW]], %[[AT]]]
// CHECK-COUNT-15: memref.store %{{.*}}, %[[S]]
//  CHECK-NEXT: nvvm.bar.warp.sync
//       CHECK: %[[SLOT:.*]] = arith.muli %{{.*}}, %c8
//  CHECK-NEXT: %[[BEGUN:.*]] = arith.cmpi uge, %[[SLOT]], %[[BEHIND]]
//  CHECK-NEXT: %[[THERE:.*]] = arith.select %[[BEGUN]], %[[SLOT]], %c8
//  CHECK-NEXT: %[[VECTOR:.*]] = vector.load %[[S]][%[[WARP]], %[[ROW]], %[[THERE]]] {alignment = 16 : i64}
//       CHECK: vector.load %[[S]]
//       CHECK: scf.if %[[BEGUN]] {
//  CHECK-NEXT:   %[[FIRST:.*]] = arith.subi %[[SLOT]], %[[BEHIND]]
//  CHECK-NEXT:   vector.store %[[VECTOR]], %[[C]][%[[ROW]], %[[FIRST]]] {alignment = 16 : i64}
//       CHECK: vector.store
//   CHECK-NOT: vector.store
// CHECK-COUNT-8: memref.load %[[S]]
// CHECK-COUNT-8: memref.store %{{.*}}, %[[C]]
//   CHECK-NOT: memref.store
gpu.module @kernels {
  gpu.func @product(%A: memref<16x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<32x35xf16>, %S: memref<2x16x40xf16, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x32xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x32xf16, 3>, vector<16x32xf32>) -> vector<16x32xf32>
    %v = arith.truncf %d : vector<16x32xf32> to vector<16x32xf16>
    "tile.unaligned_store"(%v, %C, %S, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x32xf16>, memref<32x35xf16>, memref<2x16x40xf16, 3>, index, index) -> ()
    gpu.return
  }
}
