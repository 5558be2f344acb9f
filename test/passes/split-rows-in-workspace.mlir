// split-rows-in-workspace: few long rows are reduced in parts, which a second kernel combines; a second run changes nothing.
// RUN: mlir-gemm opt %s 'split-rows-in-workspace{parts=4}' | FileCheck %s
// RUN: mlir-gemm opt %s 'split-rows-in-workspace{parts=4}' 'split-rows-in-workspace{kernel=sum_0 parts=4}' | FileCheck %s

// Each part is a row of its own, which starts from what adding leaves as it is; nothing moves in memory for that.
// CHECK-LABEL: func.func @sum(
//       CHECK:   %[[PARTS:.*]] = memref.alloc() : memref<4x2xf32>
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0"
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0_sum"
//       CHECK: module @sum_0 attributes {{{.*}}tile.note = "rows in 4 parts, each reduced for itself"
//       CHECK:   func.func @sum_0(%[[A:.*]]: memref<2x4x250xf32> {tile.role = "in"}, %[[P:.*]]: memref<4x2xf32> {tile.role = "out"})
//  CHECK-SAME:     tile.kind = "rows", tile.split_k_workspace = 4 : i64
//       CHECK:     arith.constant -0.000000e+00 : f32
//       CHECK:     linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[A]] :
//       CHECK:       math.absf
//       CHECK:       arith.addf

// The parts of a row are combined in a fixed order, from what the sum started with.
//       CHECK: module @sum_0_sum attributes {{{.*}}tile.note = "combines the 4 parts of each row"
//       CHECK:   func.func @sum_0_sum(%[[P:.*]]: memref<4x2xf32> {tile.role = "in"}, %[[R:.*]]: memref<2xf32> {tile.role = "out"})
//       CHECK:     arith.constant 0.000000e+00 : f32
//       CHECK:     linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[P]] :
//   CHECK-NOT:       math.absf
//       CHECK:       arith.addf
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sum(%A: memref<2x1000xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<2xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<2x1000xf32>) outs(%R : memref<2xf32>) {
    ^bb0(%x: f32, %a: f32):
      %s = math.absf %x : f32
      %r = arith.addf %s, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}
