// What reveal-padding refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s reveal-padding 2>&1 | FileCheck %s

func.func @still_linalg(%A: memref<9x7xf32, strided<[8, 1]>> {tile.padded = array<i64: 16, 8>}, %B: memref<9x7xf32>) {
  // CHECK: reveal-padding-refuses.mlir:[[# @LINE + 1]]:3: error: 'linalg.copy' uses an argument with 'tile.padded'; expected affine.load only (run convert-linalg-to-affine-loops first)
  linalg.copy ins(%A : memref<9x7xf32, strided<[8, 1]>>) outs(%B : memref<9x7xf32>)
  return
}

// -----

// CHECK: reveal-padding-refuses.mlir:[[# @LINE + 1]]:1: error: 'tile.padded' is array<i64: 8, 8> on an argument of memref<9x7xf32, strided<[8, 1]>>; expected the sizes of a dense buffer that it is the first part of
func.func @too_small(%A: memref<9x7xf32, strided<[8, 1]>> {tile.padded = array<i64: 8, 8>}) {
  return
}

// -----

// CHECK: error: 'tile.padded' is array<i64: 9, 16> on an argument of memref<9x7xf32, strided<[8, 1]>>;
func.func @other_rows(%A: memref<9x7xf32, strided<[8, 1]>> {tile.padded = array<i64: 9, 16>}) {
  return
}

// -----

// CHECK: error: 'tile.padded' is true; expected numbers
func.func @no_sizes(%A: memref<9x7xf32, strided<[8, 1]>> {tile.padded = true}) {
  return
}

// -----

// CHECK: error: 'tile.padded' is array<i64: 9, 8> on an argument of memref<9x7xf32, strided<[8, 1], offset: 1>>;
func.func @offset(%A: memref<9x7xf32, strided<[8, 1], offset: 1>> {tile.padded = array<i64: 9, 8>}) {
  return
}
