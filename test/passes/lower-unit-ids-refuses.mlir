// What lower-unit-ids refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s lower-unit-ids 2>&1 | FileCheck %s

gpu.module @kernels {
  // CHECK: lower-unit-ids-refuses.mlir:[[# @LINE + 1]]:3: error: a block of 32x2x1 threads; expected whole warps of 32 threads along x only
  gpu.func @two(%out: memref<4xindex>) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %warp = "tile.unit_id"() : () -> index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: lower-unit-ids-refuses.mlir:[[# @LINE + 1]]:3: error: a kernel without known_block_size; the number of its threads must be known
  gpu.func @unknown(%out: memref<4xindex>) kernel {
    %warp = "tile.unit_id"() : () -> index
    gpu.return
  }
}
