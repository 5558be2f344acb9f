// What tiles-to-lanes refuses: each error names the place, and what is expected instead. It has no options.
// RUN: not mlir-gemm opt %s tiles-to-lanes 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'tiles-to-lanes{width=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'tiles-to-lanes' has no option 'width' (options: none)

gpu.module @kernels {
  gpu.func @rows(%D: memref<6x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %s = memref.alloc() : memref<6x32xf32, 3>
    // CHECK: tiles-to-lanes-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: a warp tile of vector<6x32xf32>; this mma needs matrices of multiples of 4 x 32 elements
    %x = "tile.load"(%s, %zero, %zero) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<6x32xf32, 3>, index, index) -> vector<6x32xf32>
    "tile.store"(%x, %D, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<6x32xf32>, memref<6x32xf32>, index, index) -> ()
    gpu.return
  }
}
