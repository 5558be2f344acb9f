// What mma-to-coop-matrix refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-coop-matrix 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'mma-to-coop-matrix{subgroup=24}' 2>&1 | FileCheck %s --check-prefix=SUBGROUP

// SUBGROUP: subgroup=24; expected a divisor of 32

gpu.module @kernels {
  gpu.func @types() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = memref.alloc() : memref<16x16xf32, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // CHECK: mma-to-coop-matrix-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: cooperative matrices have no product of f32 and f32 into f32; supported: f16, f16 into f32; f16, f16 into f16; i8, i8 into i32
    %ab = "tile.mma"(%a, %a, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x16xf32, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = memref.alloc() : memref<16x8xf16, 3>
    %b = memref.alloc() : memref<8x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // CHECK: mma-to-coop-matrix-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: a product of 16x16x8; expected multiples of the instruction's 16x16x16 (coop_matrix has 16x16x16)
    %ab = "tile.mma"(%a, %b, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x8xf16, 3>, memref<8x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rows() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = memref.alloc() : memref<16x16xf16, strided<[17, 1]>, 3>
    %b = memref.alloc() : memref<16x16xf16, 3>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // CHECK: mma-to-coop-matrix-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: memref<16x16xf16, strided<[17, 1]>, 3> in coop_matrix; expected rows of consecutive elements, a constant multiple of 128 bits apart
    %ab = "tile.mma"(%a, %b, %z) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, strided<[17, 1]>, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}
