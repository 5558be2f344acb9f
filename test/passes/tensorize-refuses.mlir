// tensorize refuses nests that it does not recognise. Each case is run alone.
// RUN: sed '/^func.func @other_sum(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: sed '/^func.func @extra(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=EXTRA
// RUN: sed '/^func.func @ragged(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=RAGGED
// RUN: sed '/^func.func @strided(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: sed '/^func.func @shifted(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=SHIFTED
// RUN: sed '/^func.func @branch(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: sed '/^func.func @computed(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=COMPUTED
// RUN: sed '/^func.func @bounds(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: sed '/^func.func @depth(/,/^}/!s/.*//' %s | not mlir-gemm opt - tensorize 2>&1 | FileCheck %s --check-prefix=DEPTH

func.func @other_sum(%A: memref<16x16xf32>, %B: memref<16x16xf32>, %C: memref<16x16xf32>) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%m, %k] : memref<16x16xf32>
        %b = affine.load %B[%k, %n] : memref<16x16xf32>
        %s = arith.addf %a, %b : f32
        // SUM: -:[[# @LINE + 1]]:9: error: a three-deep point nest that is not c += extend(a) * extend(b)
        affine.store %s, %C[%m, %n] : memref<16x16xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @extra(%A: memref<16x16xf32>, %B: memref<16x16xf32>, %C: memref<16x16xf32>, %D: memref<16x16xf32>) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%m, %k] : memref<16x16xf32>
        %b = affine.load %B[%k, %n] : memref<16x16xf32>
        %c = affine.load %C[%m, %n] : memref<16x16xf32>
        // EXTRA: -:[[# @LINE + 1]]:9: error: 'affine.store' inside a product is not supported
        affine.store %a, %D[%m, %k] : memref<16x16xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %C[%m, %n] : memref<16x16xf32>
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @ragged(%A: memref<20x16xf32>, %B: memref<16x16xf32>, %C: memref<32x16xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %m = 0 to 16 {
      affine.for %n = 0 to 16 {
        affine.for %k = 0 to 16 {
          // RAGGED: -:[[# @LINE + 1]]:16: error: an operand that is not staged must be made of whole 16x16 tiles; this is memref<20x16xf32>
          %a = affine.load %A[%i * 16 + %m, %k] : memref<20x16xf32>
          %b = affine.load %B[%k, %n] : memref<16x16xf32>
          %c = affine.load %C[%i * 16 + %m, %n] : memref<32x16xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          affine.store %s, %C[%i * 16 + %m, %n] : memref<32x16xf32>
        } {tile.loop = "point"}
      } {tile.loop = "point"}
    } {tile.loop = "point"}
  } {tile.loop = "block"}
  return
}

func.func @strided(%A: memref<16x32xf32>, %B: memref<16x16xf32>) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      // STRIDED: -:[[# @LINE + 1]]:12: error: an access that does not run along one loop of the tile, in steps of 1, in each dimension
      %a = affine.load %A[%m, %n * 2] : memref<16x32xf32>
      affine.store %a, %B[%m, %n] : memref<16x16xf32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

// Point by point, this carries the first column through the row.
func.func @shifted(%A: memref<16x32xf32>) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      // SHIFTED: -:[[# @LINE + 1]]:12: error: a buffer that is written is also accessed at another place
      %a = affine.load %A[%m, %n] : memref<16x32xf32>
      affine.store %a, %A[%m, %n + 1] : memref<16x32xf32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @branch(%A: memref<16x16xf32>, %x: f32, %condition: i1) {
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      // BRANCH: -:[[# @LINE + 1]]:7: error: 'scf.if' inside an elementwise operation is not supported
      scf.if %condition {
        affine.store %x, %A[%m, %n] : memref<16x16xf32>
      }
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @computed(%A: memref<16x16xi32>) {
  // COMPUTED: -:[[# @LINE + 1]]:3: error: a point loop whose induction variable is computed with is not supported
  affine.for %m = 0 to 16 {
    affine.for %n = 0 to 16 {
      %i = arith.index_cast %m : index to i32
      affine.store %i, %A[%m, %n] : memref<16x16xi32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @bounds(%A: memref<16x16xf32>, %x: f32) {
  // BOUNDS: -:[[# @LINE + 1]]:3: error: point loops must run from 0 in steps of 1 to a constant above 0 and carry no values
  affine.for %m = 0 to 16 {
    affine.for %n = 1 to 16 {
      affine.store %x, %A[%m, %n] : memref<16x16xf32>
    } {tile.loop = "point"}
  } {tile.loop = "point"}
  return
}

func.func @depth(%A: memref<16xf32>, %x: f32) {
  // DEPTH: -:[[# @LINE + 1]]:3: error: a nest of 1 point loops; expected 2 (elementwise) or 3 (a product)
  affine.for %m = 0 to 16 {
    affine.store %x, %A[%m] : memref<16xf32>
  } {tile.loop = "point"}
  return
}
