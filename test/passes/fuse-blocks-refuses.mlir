// fuse-blocks refuses neighbours that meet in other tiles, and leaves alone what are no neighbours over the same loops.
// RUN: sed '/^func.func @transposed(/,/^}/!s/.*//' %s | not mlir-gemm opt - fuse-blocks 2>&1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: sed '/^func.func @same_row(/,/^}/!s/.*//' %s | not mlir-gemm opt - fuse-blocks 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: sed '/^func.func @opaque(/,/^}/!s/.*//' %s | not mlir-gemm opt - fuse-blocks 2>&1 | FileCheck %s --check-prefix=OPAQUE
// RUN: sed '/^func.func @alone(/,$!s/.*//' %s | mlir-gemm opt - fuse-blocks | FileCheck %s --check-prefix=ALONE

func.func @transposed(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %x: f32) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      affine.store %x, %A[%i * 16, %j * 16] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      // TRANSPOSED: -:[[# @LINE + 1]]:12: error: this reads or writes other parts of a buffer than the tile that the operation before it makes; only elementwise operations on the product's own tile can be fused
      %a = affine.load %A[%j * 16, %i * 16] : memref<32x32xf32>
      affine.store %a, %B[%i * 16, %j * 16] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

// Every %j writes the same element, and the last one counts: fused, the reads would come too early.
func.func @same_row(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %C: memref<32x32xf32>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      %c = affine.load %C[%i * 16, %j * 16] : memref<32x32xf32>
      affine.store %c, %A[%i * 16, 0] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 2 {
      // ROW: -:[[# @LINE + 1]]:12: error: this reads or writes other parts of a buffer than the tile
      %a = affine.load %A[%i * 16, 0] : memref<32x32xf32>
      affine.store %a, %B[%i * 16, %j * 16] : memref<32x32xf32>
    } {tile.loop = "block"}
  } {tile.loop = "block"}
  return
}

func.func @opaque(%A: memref<32xf32>, %B: memref<32xf32>, %x: f32) {
  affine.for %i = 0 to 2 {
    affine.store %x, %A[%i * 16] : memref<32xf32>
  } {tile.loop = "block"}
  affine.for %i = 0 to 2 {
    // OPAQUE: -:[[# @LINE + 1]]:5: error: this reads or writes other parts of a buffer than the tile
    memref.copy %A, %B : memref<32xf32> to memref<32xf32>
  } {tile.loop = "block"}
  return
}

// Other trip counts, other bounds, values carried, something between that touches a buffer: nothing is fused.
// ALONE-LABEL: func.func @alone(
// ALONE-COUNT-6: {tile.loop = "block"}
//         ALONE: return
// ALONE: func.func private @declaration()
func.func @alone(%A: memref<32xf32>, %x: f32) {
  affine.for %i = 0 to 2 {
    affine.store %x, %A[%i * 16] : memref<32xf32>
  } {tile.loop = "block"}
  affine.for %i = 0 to 3 {
    affine.store %x, %A[%i * 8] : memref<32xf32>
  } {tile.loop = "block"}
  affine.for %i = 1 to 4 {
    affine.store %x, %A[%i * 8] : memref<32xf32>
  } {tile.loop = "block"}
  %y = affine.for %i = 0 to 3 iter_args(%c = %x) -> f32 {
    affine.yield %c : f32
  } {tile.loop = "block"}
  affine.for %i = 0 to 3 {
    affine.store %y, %A[%i * 8] : memref<32xf32>
  } {tile.loop = "block"}
  %zero = arith.constant 0 : index
  memref.store %x, %A[%zero] : memref<32xf32>
  affine.for %i = 0 to 3 {
    affine.store %x, %A[%i * 8] : memref<32xf32>
  } {tile.loop = "block"}
  return
}
func.func private @declaration()
