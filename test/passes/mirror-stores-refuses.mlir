// RUN: not mlir-gemm opt --split-input-file %s mirror-stores 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'mirror-stores{half=left}' 2>&1 | FileCheck %s --check-prefix=HALF

// HALF: pass 'mirror-stores{half=left}': expected half=lower or upper, or none where there are no clusters

func.func @wide(%D: memref<64x64xf32>, %v: vector<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    // CHECK: mirror-stores-refuses.mlir:[[# @LINE + 1]]:5: error: a store of vector<32x64xf32>; expected square tiles along the memory's last dimensions
    "tile.store"(%v, %D, %i, %j) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<32x64xf32>, memref<64x64xf32>, index, index) -> ()
    scf.reduce
  }
  return
}

// -----

func.func @open(%D: memref<64x?xf32>, %v: vector<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    // CHECK: mirror-stores-refuses.mlir:[[# @LINE + 1]]:5: error: a store to memref<64x?xf32>; expected a square matrix
    "tile.store"(%v, %D, %i, %j) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<32x32xf32>, memref<64x?xf32>, index, index) -> ()
    scf.reduce
  }
  return
}
