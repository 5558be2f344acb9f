// promote-result refuses tiles that were divided among warps: buffers are those of a block.
// RUN: not mlir-gemm opt %s promote-result 2>&1 | FileCheck %s

func.func @divided(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %D: memref<64x32xf32>, %zero: vector<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    // CHECK: promote-result-refuses.mlir:[[# @LINE + 1]]:5: error: a tile that was divided among warps; expected whole block tiles
    "tile.store"(%sum, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
