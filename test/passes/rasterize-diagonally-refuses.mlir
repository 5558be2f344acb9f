// What rasterize-diagonally refuses: what rasterize-blocks does.
// RUN: not mlir-gemm opt %s rasterize-diagonally 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'rasterize-diagonally{cluster_m=4 cluster_n=4}' 2>&1 | FileCheck %s --check-prefix=SQUARE

// SQUARE: error: pass 'rasterize-diagonally{
// SQUARE-SAME: a cluster has 1 to 8 blocks

func.func @bounds(%m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: rasterize-diagonally-refuses.mlir:[[# @LINE + 1]]:3: error: only a scf.parallel from 0 in steps of 1 can be mapped
  scf.parallel (%i, %j) = (%m, %c0) to (%m, %c1) step (%c1, %c1) {
    scf.reduce
  }
  return
}
