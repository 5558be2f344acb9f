// split-k-in-workspace: slices of a given length, what is left over in a product of its own, and more slices than one kernel adds up.
// RUN: mlir-gemm opt %s 'split-k-in-workspace{slices=40 depth=16}' | FileCheck %s
// RUN: mlir-gemm opt %s 'split-k-in-workspace{slices=40 depth=16}' 'split-k-in-workspace{kernel=product_0 slices=40 depth=16}' | FileCheck %s
// RUN: not mlir-gemm opt %s 'split-k-in-workspace{slices=41 depth=16}' 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not mlir-gemm opt %s 'split-k-in-workspace{slices=4 depth=-1}' 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// LONG: error: the steps of a product cannot be divided: it has a k of 650, which is less than 41 slices of 16
// NEGATIVE: pass 'split-k-in-workspace': depth=-1; expected at least 0

// The first level adds up 5 groups of 8 parts; the last one these, and the rest, in this order. B has one column: its
// neighbours lie along k.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (4, d0, d1)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[OF_GROUP:.*]] = affine_map<(d0, d1) -> (d0, 7, d1)>
// CHECK-LABEL: func.func @product(
//   CHECK-DAG:   %[[PARTS:.*]] = memref.alloc() : memref<40x32x1xf32>
//   CHECK-DAG:   %[[REST:.*]] = memref.alloc() : memref<32x1xf32>
//   CHECK-DAG:   %[[GROUPS:.*]] = memref.alloc() : memref<5x32x1xf32>
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel = "product_0_rest"
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel = "product_0"
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}) {kernel = "product_0_add"
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel = "product_0_sum"
//   CHECK-NOT:   tile.run
//       CHECK:   func.func @product_0_rest(%{{.*}}: memref<32x10xf16, strided<[650, 1], offset: 640>> {{.*}}, %{{.*}}: memref<10x1xf16, strided<[1, 1], offset: 640>> {{.*}}, %{{.*}}: memref<32x1xf32> {{.*}}) attributes {tile.split_k_workspace = 40 : i64}
//       CHECK:   func.func @product_0(%{{.*}}: memref<32x40x16xf16, strided<[650, 16, 1]>> {{.*}}, %{{.*}}: memref<1x40x16xf16{{.*}}> {{.*}}, %{{.*}}: memref<40x32x1xf32> {{.*}}) attributes {tile.split_k_workspace = 40 : i64}
//       CHECK:   func.func @product_0_sum(%{{.*}}: memref<5x32x1xf32> {{.*}}, %{{.*}}: memref<32x1xf32> {{.*}}, %{{.*}}: memref<32x1xf32> {{.*}}) attributes {tile.kind = "elementwise", tile.split_k_workspace = 40 : i64}
//       CHECK:     linalg.generic {indexing_maps = [#[[FIRST]], #{{.*}}, #{{.*}}, #{{.*}}, #[[LAST]], #[[ALL]], #[[ALL]]]
//       CHECK:   func.func @product_0_add(%{{.*}}: memref<5x8x32xf32> {{.*}}, %{{.*}}: memref<5x32xf32> {{.*}}) attributes {tile.kind = "elementwise", tile.split_k_workspace = 40 : i64}
//       CHECK:     linalg.generic {indexing_maps = [{{.*}}, #[[OF_GROUP]], #[[ALL]]]
func.func @product(%X: memref<32x650xf16> {tile.role = "in"}, %Y: memref<650x1xf16> {tile.role = "in"}, %out: memref<32x1xf32> {tile.role = "out"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<32x1xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%X, %Y : memref<32x650xf16>, memref<650x1xf16>) outs(%out : memref<32x1xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %wide_x = arith.extf %x : f16 to f32
    %wide_y = arith.extf %y : f16 to f32
    %xy = arith.mulf %wide_x, %wide_y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  }
  return
}
