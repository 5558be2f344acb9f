// tile-loops refuses nests that it would not tile right. Each case is run alone.
// RUN: sed '/^func.func @bounds(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: sed '/^func.func @carried(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: sed '/^func.func @depth(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: sed '/^func.func @imperfect(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=IMPERFECT
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: sed '/^func.func @nonlinear(/,/^}/!s/.*//' %s | not mlir-gemm opt - 'tile-loops{block=8,8,8}' 2>&1 | FileCheck %s --check-prefix=NONLINEAR
// RUN: sed '/^func.func @beyond(/,/^}/!s/.*//' %s | not mlir-gemm opt - tile-loops 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not mlir-gemm opt %s 'tile-loops{block=0,16,16}' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mlir-gemm opt %s 'tile-loops{block=16,16,100000}' 2>&1 | FileCheck %s --check-prefix=LARGE

// ZERO: error: pass 'tile-loops': option 'block=0,16,16' is not a value like 128,128,64
// LARGE: error: pass 'tile-loops{block=16,16,100000}': each size of a tile must be from 1 to 65536

func.func @bounds(%A: memref<32x48xf32>, %B: memref<32x48xf32>, %size: index) {
  affine.for %m = 0 to 32 {
    // BOUNDS: -:[[# @LINE + 1]]:5: error: a loop that carries values, or whose bounds are not constants or sizes from 0 in steps of 1
    affine.for %n = 0 to %size {
      %a = affine.load %A[%m, %n] : memref<32x48xf32>
      affine.store %a, %B[%m, %n] : memref<32x48xf32>
    }
  }
  return
}

func.func @carried(%A: memref<32x48xf32>, %x: f32) -> f32 {
  // CARRIED: -:[[# @LINE + 1]]:13: error: a loop that carries values, or whose bounds are not constants or sizes from 0 in steps of 1
  %result = affine.for %m = 0 to 32 iter_args(%s = %x) -> f32 {
    %sum = affine.for %n = 0 to 48 iter_args(%t = %s) -> f32 {
      %a = affine.load %A[%m, %n] : memref<32x48xf32>
      %u = arith.addf %t, %a : f32
      affine.yield %u : f32
    }
    affine.yield %sum : f32
  }
  return %result : f32
}

func.func @depth(%A: memref<32xf32>, %x: f32) {
  // DEPTH: -:[[# @LINE + 1]]:3: error: a nest of 1 loops; expected at least 2 (elementwise) or 3 (a product)
  affine.for %m = 0 to 32 {
    affine.store %x, %A[%m] : memref<32xf32>
  }
  return
}

func.func @imperfect(%A: memref<32x48xf32>, %x: f32) {
  // IMPERFECT: -:[[# @LINE + 1]]:3: error: loops that are not perfectly nested cannot be tiled
  affine.for %m = 0 to 32 {
    affine.for %n = 0 to 48 {
      affine.store %x, %A[%m, %n] : memref<32x48xf32>
      affine.for %k = 0 to 16 {
        affine.store %x, %A[%m, %k] : memref<32x48xf32>
      }
    }
  }
  return
}

func.func @computed(%A: memref<32x48xindex>) {
  affine.for %m = 0 to 32 {
    affine.for %n = 0 to 48 {
      // COMPUTED: -:[[# @LINE + 1]]:12: error: 'arith.addi' uses an induction variable; only the indices of an affine.load or affine.store directly in the nest may
      %s = arith.addi %m, %n : index
      affine.store %s, %A[%m, %n] : memref<32x48xindex>
    }
  }
  return
}

func.func @nonlinear(%A: memref<32x48xf32>, %B: memref<32x48xf32>) {
  affine.for %m = 0 to 32 {
    affine.for %n = 0 to 48 {
      // NONLINEAR: -:[[# @LINE + 1]]:12: error: an access whose indices are not linear in the loops cannot be tiled
      %a = affine.load %A[%m mod 2, %n] : memref<32x48xf32>
      affine.store %a, %B[%m, %n] : memref<32x48xf32>
    }
  }
  return
}

// The last tile would reach rows 20 to 31, which exist: they are not out of bounds.
func.func @beyond(%A: memref<32x128xf32>, %x: f32) {
  affine.for %m = 0 to 20 {
    affine.for %n = 0 to 128 {
      // BEYOND: -:[[# @LINE + 1]]:7: error: tiles of 128 do not divide the loop's 20 iterations, and beyond them this access would not be out of bounds
      affine.store %x, %A[%m, %n] : memref<32x128xf32>
    }
  }
  return
}
