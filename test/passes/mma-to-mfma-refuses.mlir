// What mma-to-mfma refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-mfma 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-mfma{kind=WMMA}' 2>&1 | FileCheck --check-prefix=WMMA %s
// RUN: not mlir-gemm opt %s 'mma-to-mfma{kind=tensor}' 2>&1 | FileCheck --check-prefix=KIND %s
// KIND: kind must be one of MFMA, WMMA

gpu.module @kernels {
  gpu.func @types(%a: memref<16x16xf16, 3>, %b: memref<16x16xf32, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-mfma-refuses.mlir:[[# @LINE + 1]]:10: error: MFMA has no product of f16 and f32 into f32; supported: f16, f16 into f32;
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "wave"} : (memref<16x16xf16, 3>, memref<16x16xf32, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @instruction(%a: memref<16x16xf64, 3>, %c: vector<16x16xf64>) kernel {
    // CHECK: mma-to-mfma-refuses.mlir:[[# @LINE + 1]]:10: error: MFMA has no 16x16x16 for f64; supported: 16x16x4
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "wave"} : (memref<16x16xf64, 3>, memref<16x16xf64, 3>, vector<16x16xf64>) -> vector<16x16xf64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unsigned(%a: memref<16x16xi8, 3>, %c: vector<16x16xi32>) kernel {
    // CHECK: mma-to-mfma-refuses.mlir:[[# @LINE + 1]]:10: error: MFMA multiplies signed bytes only; expected a product of these, or mma-to-fma
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", unsigned = "a", scope = "wave"} : (memref<16x16xi8, 3>, memref<16x16xi8, 3>, vector<16x16xi32>) -> vector<16x16xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes(%a: memref<16x24xf16, 3>, %b: memref<24x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-mfma-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of (16, 16, 24); expected multiples of the instruction's (16, 16, 16)
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "wave"} : (memref<16x24xf16, 3>, memref<24x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @scope(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-mfma-refuses.mlir:[[# @LINE + 2]]:10: error: a product of a warpgroup; MFMA multiplies tiles of a wave
    // WMMA: mma-to-mfma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of a warpgroup; WMMA multiplies tiles of a warp
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warpgroup"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}
