// RUN: not mlir-gemm opt %s fill-masked 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'fill-masked{half=left}' 2>&1 | FileCheck %s --check-prefix=HALF

// HALF: pass 'fill-masked{half=left}': expected half=lower or upper, or none where there are no clusters

func.func @plain(%D: memref<64x64xf32>, %v: vector<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    // CHECK: fill-masked-refuses.mlir:[[# @LINE + 1]]:5: error: a tile that is not computed from a selection of a constant by positions
    "tile.store"(%v, %D, %i, %j) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<32x32xf32>, memref<64x64xf32>, index, index) -> ()
    scf.reduce
  }
  return
}
