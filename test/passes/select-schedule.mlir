// select-schedule: every product gets all fields of a schedule, and says what it computes.
// RUN: mlir-gemm opt --split-input-file %s select-schedule | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-SAME: tile.problem = {a = "f16", {{.*}}k = 4096 : i64, m = 4096 : i64, n = 4096 : i64
// CHECK-SAME: tile.schedule = {{{.*}}block = [128, 256, 64]
// CHECK-SAME: stages = 3 : i64
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) attributes {tile.schedule = {stages = 3 : i64, block = [128, 256, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4096x4096xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%D : memref<4096x4096xf32>) {
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

// -----

// On a chip without wgmma another operation multiplies.
// CHECK-LABEL: func.func @older(
// CHECK-SAME: mma = "mma_sync"
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_80", tile.stage = "import"} {
  func.func @older(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4096x4096xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%D : memref<4096x4096xf32>) {
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
