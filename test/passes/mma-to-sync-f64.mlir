// mma-to-sync on f64, with instructions of 16x8x8 and 8x8x4: fragments are loaded element by element.
// RUN: mlir-gemm opt %s 'mma-to-sync{instruction=16,8,8}' cse | FileCheck %s
// RUN: mlir-gemm opt %s 'mma-to-sync{instruction=8,8,4}' cse | FileCheck --check-prefix=SMALL %s

gpu.module @kernels {
  // Lane l holds the rows l / 4 and l / 4 + 8 of A, its columns l % 4 and l % 4 + 4, and so on; the instructions with 16
  // rows are assembly, those with 8 are known to nvvm.
// CHECK-LABEL: @product
// CHECK-SAME: %[[A:.*]]: memref<16x8xf64, 3>, %[[B:.*]]: memref<8x8xf64, 3>, %[[C:.*]]: memref<16x8xf64>
// CHECK: %[[ROW:.*]] = arith.divui %[[LANE:.*]], %c4 : index
// CHECK: %[[K:.*]] = arith.remui %[[LANE]], %c4 : index
// CHECK: %[[A0:.*]] = memref.load %[[A]][%[[ROW]], %[[K]]]
// CHECK: %[[LOWER:.*]] = arith.addi %[[ROW]], %c8
// CHECK: %[[A1:.*]] = memref.load %[[A]][%[[LOWER]], %[[K]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c4
// CHECK: %[[A2:.*]] = memref.load %[[A]][%[[ROW]], %[[NEXT]]]
// CHECK: %[[A3:.*]] = memref.load %[[A]][%[[LOWER]], %[[NEXT]]]
// CHECK: %[[B0:.*]] = memref.load %[[B]][%[[K]], %[[ROW]]]
// CHECK: %[[B1:.*]] = memref.load %[[B]][%[[NEXT]], %[[ROW]]]
// CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=d,=d,=d,=d,d,d,d,d,d,d,d,d,d,d" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: %[[D0:.*]] = llvm.extractvalue %[[D]][0]
// CHECK: vector.store %{{.*}}, %[[C]]
// CHECK: vector.store %{{.*}}, %[[C]]
// CHECK-NOT: vector.store
// SMALL-LABEL: @product
// SMALL-COUNT-4: nvvm.mma.sync
// SMALL-NOT: llvm.inline_asm
  gpu.func @product(%A: memref<16x8xf64, 3>, %B: memref<8x8xf64, 3>, %C: memref<16x8xf64>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x8xf64>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x8xf64, 3>, memref<8x8xf64, 3>, vector<16x8xf64>) -> vector<16x8xf64>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x8xf64>, memref<16x8xf64>, index, index) -> ()
    gpu.return
  }
}
