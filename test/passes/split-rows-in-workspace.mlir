// split-rows-in-workspace: sums of columns in parts, side by side, and what is left of them; a kernel combines these and
// does what followed.
// RUN: mlir-gemm opt %s 'split-rows-in-workspace{parts=3 depth=64}' | FileCheck %s
// RUN: mlir-gemm opt %s 'split-rows-in-workspace{parts=3 depth=64}' 'split-rows-in-workspace{parts=3 depth=64 kernel=sums_0}' | FileCheck %s
// RUN: mlir-gemm opt %s 'split-rows-in-workspace{parts=4}' | FileCheck %s --check-prefix=EVEN

// CHECK-LABEL: func.func @sums(
//       CHECK: %[[PARTS:.*]] = memref.alloc() : memref<4x16xf32>
//       CHECK: "tile.run"({{.*}}) {kernel = "sums_0"
//       CHECK: "tile.run"({{.*}}) {kernel = "sums_0_rest"
//       CHECK: "tile.run"({{.*}}) {kernel = "sums_0_sum"
// CHECK-LABEL: func.func @sums_0_rest(
//  CHECK-SAME: memref<8x16xf16, strided<[16, 1], offset: 3072>>
//  CHECK-SAME: memref<16xf32, strided<[1], offset: 48>>
// CHECK-LABEL: func.func @sums_0(
//  CHECK-SAME: memref<3x64x16xf16>
//  CHECK-SAME: memref<3x16xf32>
//       CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-LABEL: func.func @sums_0_sum(
//  CHECK-SAME: memref<4x16xf32>
//       CHECK: iterator_types = ["parallel", "reduction"]
//       CHECK: arith.addf
//       CHECK: arith.truncf

// 200 elements in 4 parts: nothing is left.
// EVEN-NOT: rest
// EVEN-LABEL: func.func @sums_0(
//  EVEN-SAME: memref<4x50x16xf16>
#mn = affine_map<(n, m) -> (m, n)>
#n = affine_map<(n, m) -> (n)>
#one = affine_map<(n) -> (n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sums(%A: memref<200x16xf16> {tile.role = "in"}, %R: memref<16xf16> {tile.role = "result"}) attributes {tile.kind = "rows"} {
    %sum = memref.alloc() : memref<16xf32>
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%sum : memref<16xf32>)
    linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<200x16xf16>) outs(%sum : memref<16xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%sum : memref<16xf32>) outs(%R : memref<16xf16>) {
    ^bb0(%x: f32, %o: f16):
      %t = arith.truncf %x : f32 to f16
      linalg.yield %t : f16
    }
    return
  }
}
