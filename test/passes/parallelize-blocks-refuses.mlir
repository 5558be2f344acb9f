// parallelize-blocks refuses loops that it cannot prove parallel, naming the access. Each case is run alone.
// RUN: sed '/^func.func @same_tile(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: sed '/^func.func @diagonal(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=DIAGONAL
// RUN: sed '/^func.func @overlap(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: sed '/^func.func @factor(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: sed '/^func.func @shared_outside(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: sed '/^func.func @unknown(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed '/^func.func @nonlinear(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=NONLINEAR
// RUN: sed '/^func.func @bounds(/,/^}/!s/.*//' %s | not mlir-gemm opt - parallelize-blocks 2>&1 | FileCheck %s --check-prefix=BOUNDS

func.func @same_tile(%C: memref<32x48xf32>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
      // SAME: -:[[# @LINE + 1]]:7: error: cannot prove that blocks are independent: this touches elements that another iteration of a block loop writes; each block must write a tile of its own
      "tile.store"(%v, %C, %m, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<32x48xf32>, index, index) -> ()
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// Each loop moves the tile by its extent, but blocks (0, 1) and (1, 0) meet.
func.func @diagonal(%C: memref<64xf32>, %v: vector<16xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      %n = affine.apply affine_map<(i, j) -> (i * 16 + j * 16)>(%i, %j)
      // DIAGONAL: -:[[# @LINE + 1]]:7: error: cannot prove that blocks are independent
      "tile.store"(%v, %C, %n) {operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16xf32>, memref<64xf32>, index) -> ()
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

func.func @overlap(%C: memref<64xf32>, %v: vector<16xf32>) {
  affine.for %i = 0 to 4 {
    %n = affine.apply affine_map<(i) -> (i * 8)>(%i)
    // OVERLAP: -:[[# @LINE + 1]]:5: error: cannot prove that blocks are independent
    "tile.store"(%v, %C, %n) {operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16xf32>, memref<64xf32>, index) -> ()
  } {tile.loop = "block"}
  return
}

// The product reads, through views, what other blocks write.
func.func @factor(%C: memref<32x32xf32>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
    %A = memref.subview %C[0, 0] [16, 16] [1, 1] : memref<32x32xf32> to memref<16x16xf32, strided<[32, 1]>>
    // FACTOR: -:[[# @LINE + 1]]:10: error: cannot prove that blocks are independent
    %d = "tile.mma"(%A, %A, %v) {a = "mk", b = "kn"} : (memref<16x16xf32, strided<[32, 1]>>, memref<16x16xf32, strided<[32, 1]>>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %m, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf32>, memref<32x32xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

// A staging buffer in front of the block loops is one buffer for all blocks.
func.func @shared_outside(%X: memref<32x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf32, 3>
  affine.for %i = 0 to 2 {
    %m = affine.apply affine_map<(i) -> (i * 16)>(%i)
    // OUTSIDE: -:[[# @LINE + 1]]:5: error: cannot prove that blocks are independent
    "tile.copy"(%A, %X, %m, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf32, 3>, memref<32x16xf32>, index, index) -> ()
  } {tile.loop = "block"}
  return
}

func.func @unknown(%X: memref<32x16xf32>, %Y: memref<32x16xf32>) {
  affine.for %i = 0 to 2 {
    // UNKNOWN: -:[[# @LINE + 1]]:5: error: cannot tell what 'memref.copy' touches; cannot prove blocks independent
    memref.copy %X, %Y : memref<32x16xf32> to memref<32x16xf32>
  } {tile.loop = "block"}
  return
}

func.func @nonlinear(%X: memref<32xf32>, %x: f32) {
  affine.for %i = 0 to 2 {
    // NONLINEAR: -:[[# @LINE + 1]]:5: error: an access whose indices are not linear in the loops; cannot prove blocks independent
    affine.store %x, %X[%i mod 2] : memref<32xf32>
  } {tile.loop = "block"}
  return
}

func.func @bounds(%X: memref<32xf32>, %x: f32) {
  // BOUNDS: -:[[# @LINE + 1]]:3: error: block loops must run from 0 in steps of 1 and carry no values
  affine.for %i = 1 to 3 {
    affine.store %x, %X[%i] : memref<32xf32>
  } {tile.loop = "block"}
  return
}
