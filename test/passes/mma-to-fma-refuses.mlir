// What mma-to-fma refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-fma 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @types(%a: memref<16x16xf32, 3>, %c: vector<16x16xf16>) kernel {
    // CHECK: mma-to-fma-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.mma': adds products of f32 and f32 up in f16; expected a type that is not narrower
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x16xf32, 3>, vector<16x16xf16>) -> vector<16x16xf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes(%a: memref<6x6xf32, 3>, %c: vector<6x6xf32>) kernel {
    // CHECK: mma-to-fma-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of 6x6; expected multiples of 4 x 8
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<6x6xf32, 3>, memref<6x6xf32, 3>, vector<6x6xf32>) -> vector<6x6xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-fma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of whole block tiles; expected warp tiles, which distribute-warps makes
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @shapes(%a: memref<16x16xf32, 3>, %b: memref<16x8xf32, 3>, %c: vector<16x16xf32>, %e: vector<16x8xf32>) kernel {
    // CHECK: mma-to-fma-refuses.mlir:[[# @LINE + 1]]:10: error: products of different shapes in one kernel; expected one shape
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x16xf32, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    %f = "tile.mma"(%a, %b, %e) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x8xf32, 3>, vector<16x8xf32>) -> vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @constant(%a: memref<4x4xf32, 3>, %b: memref<4x8xf32, 3>) kernel {
    // CHECK: mma-to-fma-refuses.mlir:[[# @LINE + 1]]:10: error: a constant matrix that is not the same everywhere is not supported here
    %c = arith.constant dense<[[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : vector<4x8xf32>
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<4x4xf32, 3>, memref<4x8xf32, 3>, vector<4x8xf32>) -> vector<4x8xf32>
    gpu.return
  }
}
