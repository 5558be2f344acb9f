// split-k-in-workspace: a product in slices of k, as a batch, and a kernel after it that adds them up; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'split-k-in-workspace{slices=2}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'split-k-in-workspace{slices=2}' 'split-k-in-workspace{slices=2}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'split-k-in-workspace{slices=1}' | FileCheck %s --check-prefix=WHOLE

// What follows the product is done by the kernel after it, on the sum of all parts. A has k in its columns, whose stride is
// kept, B in its rows.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[D:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1) -> (1, d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[PARTS:.*]] = memref.alloc() : memref<2x32x64xf32>
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel = "product_0"
//       CHECK:   "tile.run"(%{{.*}}, %{{.*}}, %{{.*}}) {kernel = "product_0_sum"
//   CHECK-NOT:   tile.run
//       CHECK: module @product_0 attributes {tile.note = "k in 2 slices, each multiplied for itself and added up by a kernel after it"}
//       CHECK:   func.func @product_0(%[[A0:.*]]: memref<32x2x256xf16, strided<[600, 256, 1]>> {tile.role = "in"}, %[[B0:.*]]: memref<2x256x64xf16> {tile.role = "in"}, %[[P0:.*]]: memref<2x32x64xf32> {tile.role = "out"}) attributes {tile.split_k_workspace = 2 : i64}
//       CHECK:     linalg.fill ins(%{{.*}} : f32) outs(%[[P0]]
//       CHECK:     linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[D]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[A0]], %[[B0]] : {{.*}}) outs(%[[P0]]
//   CHECK-NOT:     linalg.generic
//       CHECK: module @product_0_sum attributes {tile.cuts = {product_0 = "k is multiplied in 2 slices side by side, which are added up when all are there"}, tile.note = "adds up the 2 slices of a product"}
//       CHECK:   func.func @product_0_sum(%[[P:.*]]: memref<2x32x64xf32> {tile.role = "in"}, %[[C:.*]]: memref<64xf16> {tile.role = "in"}, %[[R:.*]]: memref<32x64xf16> {tile.role = "out"}) attributes {tile.kind = "elementwise", tile.split_k_workspace = 2 : i64}
//       CHECK:     linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[ROW]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[P]], %[[C]] :
//  CHECK-NEXT:     ^bb0(%[[ONE:.*]]: f32, %[[TWO:.*]]: f32, %[[TERM:.*]]: f16, %{{.*}}: f16):
//  CHECK-NEXT:       %[[SUM:.*]] = arith.addf %[[ONE]], %[[TWO]]
//       CHECK:       arith.addf %[[SUM]],
// WHOLE-LABEL: func.func @product(
//   WHOLE-NOT:   tile.run
//   WHOLE-NOT:   tile.split_k_workspace
func.func @product(%X: memref<32x512xf16, strided<[600, 1]>> {tile.role = "in"}, %Y: memref<512x64xf16> {tile.role = "in"}, %bias: memref<64xf16> {tile.role = "in"}, %out: memref<32x64xf16> {tile.role = "out"}) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<32x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<32x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%X, %Y : memref<32x512xf16, strided<[600, 1]>>, memref<512x64xf16>) outs(%sums : memref<32x64xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %wide_x = arith.extf %x : f16 to f32
    %wide_y = arith.extf %y : f16 to f32
    %xy = arith.mulf %wide_x, %wide_y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%sums, %bias : memref<32x64xf32>, memref<64xf16>) outs(%out : memref<32x64xf16>) {
  ^bb0(%sum: f32, %term: f16, %old: f16):
    %wide = arith.extf %term : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %narrow = arith.truncf %moved : f32 to f16
    linalg.yield %narrow : f16
  }
  return
}

// -----

// Sums that are the result, of integers, with the sides of k the other way round.
// CHECK-LABEL: func.func @sums(
//       CHECK: module @sums_0
//       CHECK:   func.func @sums_0(%{{.*}}: memref<2x64x32xi8> {{.*}}, %{{.*}}: memref<48x2x64xi8> {{.*}}, %{{.*}}: memref<2x32x48xi32>
//       CHECK: module @sums_0_sum
//       CHECK:     ^bb0(%[[ONE:.*]]: i32, %[[TWO:.*]]: i32, %{{.*}}: i32):
//  CHECK-NEXT:       %[[SUM:.*]] = arith.addi %[[ONE]], %[[TWO]]
//  CHECK-NEXT:       linalg.yield %[[SUM]]
func.func @sums(%X: memref<128x32xi8>, %Y: memref<48x128xi8>, %D: memref<32x48xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%D : memref<32x48xi32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%X, %Y : memref<128x32xi8>, memref<48x128xi8>) outs(%D : memref<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide_x = arith.extsi %x : i8 to i32
    %wide_y = arith.extsi %y : i8 to i32
    %xy = arith.muli %wide_x, %wide_y : i32
    %next = arith.addi %sum, %xy : i32
    linalg.yield %next : i32
  }
  return
}
