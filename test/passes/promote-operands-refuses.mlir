// promote-operands refuses operands whose tile it cannot tell, or that the loop writes. Each case is run alone.
// RUN: sed '/^func.func @written(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: sed '/^func.func @nonlinear(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=NONLINEAR
// RUN: sed '/^func.func @strided(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: sed '/^func.func @inner(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: sed '/^func.func @both(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed '/^func.func @sum(/,/^}/!s/.*//' %s | not mlir-gemm opt - promote-operands 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: sed '/^func.func @rows(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'promote-operands{layout=swizzle128}' 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not mlir-gemm opt %s 'promote-operands{layout=pad2048}' 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not mlir-gemm opt %s 'promote-operands{layout=tiled}' 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not mlir-gemm opt %s 'promote-operands{layout_b=tiled}' 2>&1 | FileCheck %s --check-prefix=OTHER

// RUN: not mlir-gemm opt %s 'promote-operands{operands=c}' 2>&1 | FileCheck %s --check-prefix=OPERANDS

// RUN: not mlir-gemm opt %s 'promote-operands{turn=c}' 2>&1 | FileCheck %s --check-prefix=TURN

// TURN: error: pass 'promote-operands{layout=pad8 layout_b=same operands=ab turn=c}': turn must be none, ab, a or b
// OPERANDS: error: pass 'promote-operands{layout=pad8 layout_b=same operands=c turn=none}': operands must be ab, a or b
// OTHER: error: pass 'promote-operands{layout=pad8 layout_b=tiled operands=ab turn=none}': layout_b must be padN, xor, swizzle128 or a registered one
// PAD: error: pass 'promote-operands{layout=pad2048 layout_b=same operands=ab turn=none}': a pad must be from 0 to 1024
// LAYOUT: error: pass 'promote-operands{layout=tiled layout_b=same operands=ab turn=none}': layout must be padN, xor, swizzle128 or a registered one

func.func @written(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          // WRITTEN: -:[[# @LINE + 1]]:16: error: an operand that the k loop also writes cannot be staged
          %a = affine.load %C[%m, %l * 16 + %k] : memref<32x8xf32>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x8xf32>
          %c = affine.load %C[%m, %n] : memref<32x8xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @nonlinear(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          // NONLINEAR: -:[[# @LINE + 1]]:16: error: an access whose indices are not linear in the loops, or that runs along a diagonal
          %a = affine.load %A[%m, (%l * 16 + %k) mod 8] : memref<32x64xf32>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x8xf32>
          %c = affine.load %C[%m, %n] : memref<32x8xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @strided(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          // STRIDED: -:[[# @LINE + 1]]:16: error: an access that does not run along one loop of the tile, in steps of 1, in each dimension
          %a = affine.load %A[%m, %l * 32 + %k * 2] : memref<32x64xf32>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x8xf32>
          %c = affine.load %C[%m, %n] : memref<32x8xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @inner(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          %odd = affine.apply affine_map<(k) -> (k mod 2)>(%m)
          // INNER: -:[[# @LINE + 1]]:16: error: an operand whose tile starts at an index made inside the k loop cannot be staged
          %a = affine.load %A[%m, %l * 16 + %k + %odd] : memref<32x64xf32>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x8xf32>
          %c = affine.load %C[%m, %n] : memref<32x8xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @both(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          // BOTH: -:[[# @LINE + 1]]:16: error: a factor of a product that depends on both m and n cannot be staged
          %a = affine.load %A[%m, %n] : memref<32x64xf32>
          %b = affine.load %B[%l * 16 + %k, %n] : memref<32x8xf32>
          %c = affine.load %C[%m, %n] : memref<32x8xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @sum(%A: memref<32x64xf32>, %B: memref<32x8xf32>, %C: memref<32x8xf32>, %x: f32) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 32 {
      affine.for %n = 0 to 8 {
        affine.for %k = 0 to 16 {
          // SUM: -:[[# @LINE + 1]]:11: error: a k loop around something else than a product, c += a * b; it cannot be staged
          affine.store %x, %C[%m, %n] : memref<32x8xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}

func.func @rows(%A: memref<64x128xf16>, %B: memref<128x24xf16>, %C: memref<64x24xf32>) {
  affine.for %l = 0 to 2 {
    affine.for %m = 0 to 64 {
      affine.for %n = 0 to 24 {
        affine.for %k = 0 to 64 {
          %a = affine.load %A[%m, %l * 64 + %k] : memref<64x128xf16>
          // ROWS: -:[[# @LINE + 1]]:16: error: a tile with rows of 48 bytes; the copy engine's layouts have multiples of 32
          %b = affine.load %B[%l * 64 + %k, %n] : memref<128x24xf16>
          %c = affine.load %C[%m, %n] : memref<64x24xf32>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%m, %n] : memref<64x24xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "k"}
  return
}
