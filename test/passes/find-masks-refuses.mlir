// find-masks has no options, and leaves alone results of which no side is one number.
// RUN: not mlir-gemm opt %s 'find-masks{side=upper}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: mlir-gemm opt %s find-masks | FileCheck %s

// OPTION: error: pass 'find-masks' has no option 'side' (options: none)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @whole(
//   CHECK-NOT:   tile.masked
func.func @whole(%A: memref<64x32xf16>, %B: memref<32x64xf16>, %D: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%D : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<64x32xf16>, memref<32x64xf16>) outs(%D : memref<64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}
