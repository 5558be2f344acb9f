// promote-c refuses tiles that were divided among warps: buffers are those of a block.
// RUN: not mlir-gemm opt --split-input-file %s promote-c 2>&1 | FileCheck %s

func.func @divided(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    // CHECK: promote-c-refuses.mlir:[[# @LINE + 1]]:10: error: a tile that was divided among warps; expected whole block tiles
    %c = "tile.load"(%C, %z, %z) {scope = "warp"} : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
    %sum = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    "tile.store"(%sum, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @alternately(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %C: memref<64x32xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      // CHECK: promote-c-refuses.mlir:[[# @LINE + 1]]:12: error: consumers that take tiles alternately have no buffer together
      %c = "tile.load"(%C, %z, %z) : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
      %sum = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
      "tile.store"(%sum, %C, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.ping_pong = 2 : i64}
  return
}

// -----

func.func @divided_behind(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %R: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    // CHECK: promote-c-refuses.mlir:[[# @LINE + 1]]:10: error: a tile that was divided among warps; expected whole block tiles
    %r = "tile.load"(%R, %z, %z) {scope = "warp"} : (memref<64x32xf32>, index, index) -> vector<64x32xf32>
    %out = arith.addf %sum, %r : vector<64x32xf32>
    "tile.store"(%out, %R, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
