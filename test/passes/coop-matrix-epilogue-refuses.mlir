// What coop-matrix-epilogue refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s coop-matrix-epilogue 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'coop-matrix-epilogue{rows=0}' 2>&1 | FileCheck %s --check-prefix=ROWS

// ROWS: error: pass 'coop-matrix-epilogue': rows=0; expected at least 1

gpu.module @kernels {
  gpu.func @rows(%D: memref<24x15xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %a = memref.alloc() : memref<24x16xf16, 3>
    %b = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<24x16xf32>
    %ab = "tile.mma"(%a, %b, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<24x16xf16, 3>, memref<16x16xf16, 3>, vector<24x16xf32>) -> vector<24x16xf32>
    // CHECK: coop-matrix-epilogue-refuses.mlir:[[# @LINE + 1]]:5: error: a warp tile of 24 rows in chunks of 16; expected a multiple
    "tile.store"(%ab, %D, %zero, %zero) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<24x16xf32>, memref<24x15xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @inside(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %s = scf.for %k = %zero to %n step %one iter_args(%c = %z) -> vector<16x16xf32> {
      %ab = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      // CHECK: coop-matrix-epilogue-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: 'arith.maximumf' on the accumulator inside a loop; expected it after the k loop
      %t = arith.maximumf %ab, %ab : vector<16x16xf32>
      scf.yield %t : vector<16x16xf32>
    }
    gpu.return
  }
}
