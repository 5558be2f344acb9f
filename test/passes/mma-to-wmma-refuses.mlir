// What mma-to-wmma refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-wmma 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-wmma{instruction=32,8,16}' 2>&1 | FileCheck %s --check-prefix=TALL
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-wmma{instruction=8,32,16}' 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-wmma{instruction=16,8,16}' 2>&1 | FileCheck %s --check-prefix=SHAPE

// SHAPE: error: pass 'mma-to-wmma': instruction=16x8x16; WMMA has 16x16x16, 32x8x16, 8x32x16

gpu.module @kernels {
  gpu.func @types(%a: memref<16x16xf32, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: WMMA has no product of f32 and f32 into f32; supported: f16, f16 into f32
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x16xf32, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes(%a: memref<8x8xf16, 3>, %c: vector<8x8xf32>) kernel {
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of 8x8x8; expected multiples of the instruction's 16x16x16 (WMMA has 16x16x16, 32x8x16, 8x32x16)
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<8x8xf16, 3>, memref<8x8xf16, 3>, vector<8x8xf32>) -> vector<8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of whole block tiles; expected warp tiles, which distribute-warps makes
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rows(%a: memref<16x16xf16, strided<[20, 1]>, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: memref<16x16xf16, strided<[20, 1]>, 3> in WMMA; expected rows of consecutive elements, a constant multiple of 128 bits apart
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, strided<[20, 1]>, 3>, memref<16x16xf16, strided<[20, 1]>, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

// Columns, where rows run across k, start as far apart as rows must.
gpu.module @kernels {
  gpu.func @columns(%a: memref<16x16xf16, strided<[20, 1]>, 3>, %b: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: memref<16x16xf16, strided<[20, 1]>, 3> in WMMA; expected rows of consecutive elements, a constant multiple of 128 bits apart
    %d = "tile.mma"(%a, %b, %c) {a = "km", b = "nk", scope = "warp"} : (memref<16x16xf16, strided<[20, 1]>, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @argument(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: error: an accumulator that comes from elsewhere than a constant, tile.load or tile.mma
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @arithmetic(%a: memref<16x16xf16, 3>) kernel {
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: 'arith.negf' on an accumulator that is held in WMMA fragments is not supported
    %e = arith.negf %d : vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @part(%a: memref<16x16xf16, 3>) kernel {
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: 8x16 elements of an accumulator at [8, 0]; expected multiples of the instruction's 16x16x16 (WMMA has 16x16x16, 32x8x16, 8x32x16)
    %e = vector.extract_strided_slice %d {offsets = [8, 0], sizes = [8, 16], strides = [1, 1]} : vector<16x16xf32> to vector<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @elements(%a: memref<16x16xf16, 3>, %D: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.store': the elements of value and memory are f32 and f16; expected one type
    "tile.store"(%d, %D, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bounds(%a: memref<16x16xf16, 3>, %m: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:5: error: WMMA moves whole fragments, row by row: expected a tile along both dimensions of a matrix, in order, and surely within it (in_bounds)
    "tile.store"(%d, %m, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, false>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @transposed(%a: memref<16x16xf16, 3>, %m: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: WMMA moves whole fragments, row by row: expected a tile along both dimensions of a matrix, in order, and surely within it (in_bounds)
    %c = "tile.load"(%m, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", in_bounds = array<i1: true, true>, dims = array<i64: 1, 0>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

// What one shape divides, the others may not.
gpu.module @kernels {
  gpu.func @shapes(%a: memref<32x16xf16, 3>, %b: memref<16x16xf16, 3>, %c: memref<32x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    // LONG: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of 32x16x16; expected multiples of the instruction's 8x32x16 (WMMA has 16x16x16, 32x8x16, 8x32x16)
    %d = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<32x16xf16, 3>, memref<16x16xf16, 3>, vector<32x16xf32>) -> vector<32x16xf32>
    // TALL: mma-to-wmma-refuses.mlir:[[# @LINE + 1]]:10: error: 16x16 elements of an accumulator at [16, 0]; expected multiples of the instruction's 32x8x16 (WMMA has 16x16x16, 32x8x16, 8x32x16)
    %e = vector.extract_strided_slice %d {offsets = [16, 0], sizes = [16, 16], strides = [1, 1]} : vector<32x16xf32> to vector<16x16xf32>
    "tile.store"(%e, %c, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<32x16xf32>, index, index) -> ()
    gpu.return
  }
}
