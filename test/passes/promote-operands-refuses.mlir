// promote-operands refuses operands whose tile it cannot tell, or that the loop writes. Each case is run alone.
// RUN: sed '/^func.func @written(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: sed '/^func.func @nonlinear(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=NONLINEAR
// RUN: sed '/^func.func @strided(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: sed '/^func.func @inner(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not mlir-gemm opt %s 'promote-operands{pad=-8}' 2>&1 | FileCheck %s --check-prefix=PAD

// PAD: error: pass 'promote-operands{pad=-8}': pad must be from 0 to 1024

func.func @written(%A: memref<32x32xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %k = 0 to 16 {
        // WRITTEN: -:[[# @LINE + 1]]:14: error: an operand that the k loop also writes cannot be staged
        %a = affine.load %A[%m, %l * 16 + %k] : memref<32x32xf32>
        affine.store %a, %A[%m, %k] : memref<32x32xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @nonlinear(%A: memref<32x32xf32>, %B: memref<32x32xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %k = 0 to 16 {
        // NONLINEAR: -:[[# @LINE + 1]]:14: error: an operand whose indices are not linear in the loops cannot be staged
        %a = affine.load %A[%m, (%l * 16 + %k) mod 8] : memref<32x32xf32>
        affine.store %a, %B[%m, %k] : memref<32x32xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @strided(%A: memref<32x64xf32>, %B: memref<32x32xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %k = 0 to 16 {
        // STRIDED: -:[[# @LINE + 1]]:14: error: each dimension of an operand must run along one loop of the tile to be staged
        %a = affine.load %A[%m, %l * 32 + %k * 2] : memref<32x64xf32>
        affine.store %a, %B[%m, %k] : memref<32x32xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @inner(%A: memref<32x64xf32>, %B: memref<32x32xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %k = 0 to 16 {
        %odd = affine.apply affine_map<(k) -> (k mod 2)>(%m)
        // INNER: -:[[# @LINE + 1]]:14: error: an operand whose tile starts at an index made inside the k loop cannot be staged
        %a = affine.load %A[%m, %l * 16 + %k + %odd] : memref<32x64xf32>
        affine.store %a, %B[%m, %k] : memref<32x32xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}
