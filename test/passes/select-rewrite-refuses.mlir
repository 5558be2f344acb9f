// What select-rewrite refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=swap_ab}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=transpose}' 2>&1 | FileCheck %s --check-prefix=REWRITE

// REWRITE: error: pass 'select-rewrite{rewrite=transpose}': expected rewrite=components, materialize, relayout, split_k_workspace or swap_ab
// CHECK: select-rewrite-refuses.mlir:[[# @LINE + 5]]:1: error: the module names no chip; write one, such as tile.chip = "sm_80"
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
  func.func @f(%A: memref<128x64xf16> {tile.role = "in"}, %B: memref<64x128xf16> {tile.role = "in"}, %D: memref<128x128xf32> {tile.role = "out"}) {
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

// -----

// CHECK: select-rewrite-refuses.mlir:[[# @LINE + 7]]:5: error: swap_ab=on: the sides of the product cannot change places: the product is added to what is in memory; expected off
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @f(%A: memref<128x64xf16> {tile.role = "in"}, %B: memref<64x128xf16> {tile.role = "in"}, %D: memref<128x128xf32> {tile.role = "out"}) attributes {tile.schedule = {swap_ab = true}} {
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
