// pin-schedule: what the user has fixed is written on the product, above what the source has there.
// RUN: mlir-gemm opt %s 'pin-schedule{fields=block=64x64x32,stages=3}' | FileCheck %s
// RUN: mlir-gemm opt %s pin-schedule | FileCheck %s --check-prefix=NONE

// CHECK: func.func @f({{.*}}) attributes {tile.schedule = {block = [64, 64, 32], pad = 0 : i64, stages = 3 : i64}} {
// NONE: func.func @f({{.*}}) attributes {tile.schedule = {pad = 0 : i64, stages = 2 : i64}} {
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%A: memref<128x64xf16> {tile.role = "in"}, %B: memref<64x128xf16> {tile.role = "in"}, %D: memref<128x128xf32> {tile.role = "out"}) attributes {tile.schedule = {stages = 2 : i64, pad = 0 : i64}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<128x128xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<128x64xf16>, memref<64x128xf16>) outs(%D : memref<128x128xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}
