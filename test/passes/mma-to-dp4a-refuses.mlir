// What mma-to-dp4a refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-dp4a 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @types(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-dp4a-refuses.mlir:[[# @LINE + 1]]:10: error: a product of f16 and f16 into f32; expected i8 and i8 into i32
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @depth(%a: memref<8x6xi8, 3>, %b: memref<6x8xi8, 3>, %c: vector<8x8xi32>) kernel {
    // CHECK: mma-to-dp4a-refuses.mlir:[[# @LINE + 1]]:10: error: a product over a K of 6; expected a multiple of 4
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<8x6xi8, 3>, memref<6x8xi8, 3>, vector<8x8xi32>) -> vector<8x8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes(%a: memref<6x8xi8, 3>, %b: memref<8x6xi8, 3>, %c: vector<6x6xi32>) kernel {
    // CHECK: mma-to-dp4a-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of 6x6; expected multiples of 4 x 8
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<6x8xi8, 3>, memref<8x6xi8, 3>, vector<6x6xi32>) -> vector<6x6xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%a: memref<16x16xi8, 3>, %c: vector<16x16xi32>) kernel {
    // CHECK: mma-to-dp4a-refuses.mlir:[[# @LINE + 1]]:10: error: a product of whole block tiles; expected warp tiles, which distribute-warps makes
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<16x16xi8, 3>, memref<16x16xi8, 3>, vector<16x16xi32>) -> vector<16x16xi32>
    gpu.return
  }
}
