// fuse-steps leaves apart k loops of other numbers of steps, those of which one needs all of another, and those that
// something reads or writes memory between.
// RUN: mlir-gemm opt --split-input-file %s fuse-steps | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'fuse-steps{k=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fuse-steps' has no option 'k' (options: none)

// CHECK-LABEL: func.func @longer(
// CHECK-COUNT-2: tile.loop = "k"
func.func @longer(%A: memref<32x32xf32>, %P: memref<32x32xf32>, %Q: memref<32x32xf32>) {
  affine.for %i = 0 to 32 {
    affine.for %k = 0 to 4 {
      %a = affine.load %A[%i, %k] : memref<32x32xf32>
      affine.store %a, %P[%i, %k] : memref<32x32xf32>
    } {tile.loop = "k"}
    affine.for %k = 0 to 5 {
      %a = affine.load %A[%i, %k] : memref<32x32xf32>
      affine.store %a, %Q[%i, %k] : memref<32x32xf32>
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}

// -----

// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-2: tile.loop = "k"
func.func @chain(%A: memref<32x32xf32>, %P: memref<32x32xf32>, %Q: memref<32x32xf32>) {
  affine.for %i = 0 to 32 {
    affine.for %k = 0 to 4 {
      %a = affine.load %A[%i, %k] : memref<32x32xf32>
      affine.store %a, %P[%i, 0] : memref<32x32xf32>
    } {tile.loop = "k"}
    affine.for %k = 0 to 4 {
      %a = affine.load %P[%i, %k] : memref<32x32xf32>
      affine.store %a, %Q[%i, %k] : memref<32x32xf32>
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}

// -----

// CHECK-LABEL: func.func @between(
// CHECK-COUNT-2: tile.loop = "k"
func.func @between(%A: memref<32x32xf32>, %P: memref<32x32xf32>, %Q: memref<32x32xf32>) {
  affine.for %i = 0 to 32 {
    affine.for %k = 0 to 4 {
      %a = affine.load %A[%i, %k] : memref<32x32xf32>
      affine.store %a, %P[%i, %k] : memref<32x32xf32>
    } {tile.loop = "k"}
    %p = affine.load %P[%i, 3] : memref<32x32xf32>
    affine.store %p, %Q[%i, 31] : memref<32x32xf32>
    affine.for %k = 0 to 4 {
      %a = affine.load %A[%i, %k] : memref<32x32xf32>
      affine.store %a, %Q[%i, %k] : memref<32x32xf32>
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}
