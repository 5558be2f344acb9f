// What pin-schedule refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'pin-schedule{fields=blok=64x64x32}' 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not mlir-gemm opt %s 'pin-schedule{hints=s0}' 2>&1 | FileCheck %s --check-prefix=HINT
// RUN: not mlir-gemm opt %s 'pin-schedule{divisors=s0=0}' 2>&1 | FileCheck %s --check-prefix=DIVISOR

// FIELD: error: unknown schedule field 'blok'; did you mean 'block'?
// HINT: error: pass 'pin-schedule': hints=s0; expected numbers by symbols, as in s0=8,s1=64
// DIVISOR: error: the divisor s0=0; expected a number of at least 1
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
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
