// What wmma-epilogue refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s wmma-epilogue 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'wmma-epilogue{rows=0}' 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not mlir-gemm opt --split-input-file %s 'wmma-epilogue{rows=12}' 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not mlir-gemm opt --split-input-file %s 'wmma-epilogue{pad=3}' 2>&1 | FileCheck %s --check-prefix=PAD

// ROWS: error: pass 'wmma-epilogue': rows=0 pad=4; expected at least 1 and 0
// PAD: error: pass 'wmma-epilogue': pad=3 leaves rows of 19 elements of f32 in the scratch buffer; expected a multiple of 128 bits

gpu.module @kernels {
  gpu.func @legal(%a: memref<16x16xf16, 3>, %D: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHUNKS: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of 16x16 in chunks of 12 rows for 32 lanes
    %e = arith.truncf %d : vector<16x16xf32> to vector<16x16xf16>
    "tile.store"(%e, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf16>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @in_loop(%a: memref<16x16xf16, 3>, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %d = scf.for %i = %n to %n step %n iter_args(%c = %zero) -> (vector<16x16xf32>) {
      %ab = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      // CHECK: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:12: error: arithmetic on the accumulator inside a loop is not supported by this mma
      %e = arith.negf %ab : vector<16x16xf32>
      scf.yield %e : vector<16x16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @before(%a: memref<16x16xf16, 3>, %C: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %minus = arith.negf %c : vector<16x16xf32>
    // CHECK: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.mma' uses arithmetic on the accumulator; this mma supports arithmetic only between the last product and tile.store
    %d = "tile.mma"(%a, %a, %minus) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

// C is overwritten before the sum, which takes what C held before, would be computed.
gpu.module @kernels {
  gpu.func @overwritten(%a: memref<16x16xf16, 3>, %C: memref<16x16xf32>, %D: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = arith.addf %c, %d : vector<16x16xf32>
    // CHECK: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:5: error: this accesses memory that the arithmetic on the accumulator also reads or writes
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    "tile.store"(%e, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rows(%a: memref<16x16xf16, 3>, %D: memref<18x18xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = arith.truncf %d : vector<16x16xf32> to vector<16x16xf16>
    // CHECK: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:5: error: a vector<16x16xf16> in a memref<18x18xf16>; expected the same elements, in rows a constant multiple of 128 bits apart
    "tile.store"(%e, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf16>, memref<18x18xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bounds(%a: memref<16x16xf16, 3>, %D: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = arith.negf %d : vector<16x16xf32>
    // CHECK: wmma-epilogue-refuses.mlir:[[# @LINE + 1]]:5: error: expected a tile along both dimensions of a matrix, in order, and surely within it (in_bounds): this mma moves whole vectors of rows
    "tile.store"(%e, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

// C + A B in place is no such case: every element is read before it is written.
// CHECK: gpu.func @in_place
// CHECK: vector.store
gpu.module @kernels {
  gpu.func @in_place(%a: memref<16x16xf16, 3>, %C: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %c = "tile.load"(%C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %e = arith.addf %c, %d : vector<16x16xf32>
    "tile.store"(%e, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}
