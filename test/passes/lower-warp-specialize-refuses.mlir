// What lower-warp-specialize refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s lower-warp-specialize 2>&1 | FileCheck %s

gpu.module @kernels {
  // CHECK: lower-warp-specialize-refuses.mlir:[[# @LINE + 1]]:3: error: a block of 128 threads; expected two warpgroups or more of 128
  gpu.func @one() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: lower-warp-specialize-refuses.mlir:[[# @LINE + 1]]:3: error: a block of 320 threads; expected two warpgroups or more of 128
  gpu.func @half() kernel attributes {known_block_size = array<i32: 320, 1, 1>} {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: lower-warp-specialize-refuses.mlir:[[# @LINE + 1]]:3: error: a kernel without known_block_size; the number of its threads must be known
  gpu.func @unknown() kernel {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
    ^bb0:
    }) : () -> ()
    gpu.return
  }
}
