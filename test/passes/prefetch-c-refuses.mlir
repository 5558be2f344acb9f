// prefetch-c refuses products that were divided among warps: buffers are those of a block. What products start from, a
// buffer that is no block's own, and a place that is known behind the products only stay as they are.
// RUN: not mlir-gemm opt --split-input-file %s prefetch-c 2>&1 | FileCheck %s

func.func @divided(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %R: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : vector<64x32xf32>
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %C = memref.alloc() : memref<64x32xf32, 3>
    %sum = "tile.mma"(%A, %B, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    // CHECK: prefetch-c-refuses.mlir:[[# @LINE + 1]]:5: error: products that were divided among warps; expected those of whole block tiles
    "tile.copy"(%C, %R, %z, %z) : (memref<64x32xf32, 3>, memref<64x32xf32>, index, index) -> ()
    gpu.barrier
    %r = "tile.load"(%C, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
    %out = arith.addf %sum, %r : vector<64x32xf32>
    "tile.store"(%out, %R, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// CHECK-LABEL: func.func @stays(
//   CHECK-NOT:   tile.copy_async
//       CHECK: return
func.func @stays(%A: memref<64x16xf16, 3>, %B: memref<16x32xf16, 3>, %own: memref<64x32xf32, 3>, %R: memref<64x32xf32>, %I: memref<2xindex>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %S = memref.alloc() : memref<64x32xf32, 3>
    %C = memref.alloc() : memref<64x32xf32, 3>
    "tile.copy"(%S, %R, %z, %z) : (memref<64x32xf32, 3>, memref<64x32xf32>, index, index) -> ()
    gpu.barrier
    %start = "tile.load"(%S, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
    %sum = "tile.mma"(%A, %B, %start) {a = "mk", b = "kn"} : (memref<64x16xf16, 3>, memref<16x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    %row = memref.load %I[%z] : memref<2xindex>
    "tile.copy"(%C, %R, %row, %z) : (memref<64x32xf32, 3>, memref<64x32xf32>, index, index) -> ()
    "tile.copy"(%own, %R, %z, %z) : (memref<64x32xf32, 3>, memref<64x32xf32>, index, index) -> ()
    gpu.barrier
    %r = "tile.load"(%C, %z, %z) : (memref<64x32xf32, 3>, index, index) -> vector<64x32xf32>
    %out = arith.addf %sum, %r : vector<64x32xf32>
    "tile.store"(%out, %R, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<64x32xf32>, memref<64x32xf32>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
