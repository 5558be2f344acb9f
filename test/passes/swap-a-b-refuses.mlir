// What swap-a-b refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s swap-a-b 2>&1 | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK: swap-a-b-refuses.mlir:[[# @LINE + 1]]:1: error: A and B of the product cannot be swapped: 'memref.copy' is no linalg.generic
func.func @copied(%A: memref<8x64xf16>, %B: memref<64x256xf16>, %C: memref<8x256xf16>, %D: memref<8x256xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<8x256xf16>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x256xf16>) outs(%C : memref<8x256xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %c, %0 : f16
    linalg.yield %1 : f16
  }
  memref.copy %C, %D : memref<8x256xf16> to memref<8x256xf16>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK: swap-a-b-refuses.mlir:[[# @LINE + 1]]:1: error: A and B of the product cannot be swapped: an operation over less than two dimensions
func.func @line(%A: memref<8x64xf16>, %B: memref<64x256xf16>, %C: memref<8x256xf16>, %x: memref<256xf16>, %y: memref<256xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<8x256xf16>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x256xf16>) outs(%C : memref<8x256xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %c, %0 : f16
    linalg.yield %1 : f16
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<256xf16>) outs(%y : memref<256xf16>) {
  ^bb0(%a: f16, %b: f16):
    linalg.yield %a : f16
  }
  return
}

// -----

#nkm = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
func.func @order(%A: memref<8x64xf16>, %B: memref<64x256xf16>, %C: memref<8x256xf16>) {
  %zero = arith.constant 0.0 : f16
  linalg.fill ins(%zero : f16) outs(%C : memref<8x256xf16>)
  // CHECK: swap-a-b-refuses.mlir:[[# @LINE + 1]]:3: error: an operation whose last loops are not those of the product's m and n
  linalg.generic {indexing_maps = [#nkm, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x256xf16>) outs(%C : memref<8x256xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %c, %0 : f16
    linalg.yield %1 : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// What is in memory does not change its shape, and the product needs it.
// CHECK: swap-a-b-refuses.mlir:[[# @LINE + 1]]:1: error: A and B of the product cannot be swapped: the product is added to what is in memory
func.func @added(%A: memref<8x64xf16>, %B: memref<64x256xf16>, %C: memref<8x256xf16>) {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x256xf16>) outs(%C : memref<8x256xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %c, %0 : f16
    linalg.yield %1 : f16
  }
  return
}
