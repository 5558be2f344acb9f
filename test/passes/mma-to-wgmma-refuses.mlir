// What mma-to-wgmma refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-wgmma 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @types(%a: memref<64x64xf16, 3>, %b: memref<64x64xbf16, 3>, %c: vector<64x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: wgmma has no product of f16 and bf16 into f32; supported: f16, f16 into f32; bf16, bf16 into f32; f32, f32 into f32;
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xbf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @orders(%a: memref<64x32xf32, 3>, %b: memref<32x64xf32, 3>, %c: vector<64x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: wgmma multiplies f32 with K along the rows of B only; got a = mk, b = kn
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x32xf32, 3>, memref<32x64xf32, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rows(%a: memref<32x64xf16, 3>, %b: memref<64x64xf16, 3>, %c: vector<32x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a warpgroup's tile of 32 x 64 x 64; expected M a multiple of 64, N of 8 and at most 256, K of 64
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<32x64xf16, 3>, memref<64x64xf16, 3>, vector<32x64xf32>) -> vector<32x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @columns(%a: memref<64x64xf16, 3>, %b: memref<264x64xf16, 3>, %c: vector<64x264xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a warpgroup's tile of 64 x 264 x 64; expected M a multiple of 64, N of 8 and at most 256, K of 64
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<264x64xf16, 3>, vector<64x264xf32>) -> vector<64x264xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @depth(%a: memref<64x64xi8, 3>, %b: memref<64x64xi8, 3>, %c: vector<64x64xi32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a warpgroup's tile of 64 x 64 x 64; expected M a multiple of 64, N of 8 and at most 256, K of 128
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xi8, 3>, memref<64x64xi8, 3>, vector<64x64xi32>) -> vector<64x64xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @panel(%a: memref<64x64xf16, 3>, %c: vector<64x32xf32>) kernel {
    %b = memref.alloc() {tile.layout = "swizzle128"} : memref<64x32xf16, 3>
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: 32 n along the rows of an operand; expected a multiple of 64
    %d = "tile.mma"(%a, %b, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x32xf16, 3>, vector<64x32xf32>) -> vector<64x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%a: memref<64x64xf16, 3>, %c: vector<64x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a product of whole block tiles; expected warp tiles, which distribute-warps makes
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "kn"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @synchronous(%a: memref<64x64xf16, 3>, %c: vector<64x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a product that is not asynchronous; warp-specialize makes it so
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @early(%a: memref<64x64xf16, 3>, %c: vector<64x64xf32>) kernel {
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: 'arith.addf' uses a product that may be in flight; expected tile.mma_wait first
    %e = arith.addf %d, %d : vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @two_types(%a: memref<64x64xf16, 3>, %b: memref<64x64xbf16, 3>, %c: vector<64x64xf32>) kernel {
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: products of different types in one kernel; expected one type
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    %e = "tile.mma"(%b, %b, %c) {a = "mk", async, b = "nk", scope = "warpgroup"} : (memref<64x64xbf16, 3>, memref<64x64xbf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @layout() kernel {
    %c = arith.constant dense<0.0> : vector<64x64xf32>
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer without the layout swizzle128, swizzle64 or swizzle32; the copy engine and wgmma need it here
    %a = memref.alloc() {tile.layout = "xor"} : memref<64x64xf16, 3>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @inside() kernel {
    %c = arith.constant dense<0.0> : vector<64x64xf32>
    %A = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
    // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:10: error: a view that starts inside a panel of 8 rows or 64 columns
    %a = memref.subview %A[4, 0] [64, 64] [1, 1] : memref<128x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: 256>, 3>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, strided<[64, 1], offset: 256>, 3>, memref<64x64xf16, strided<[64, 1], offset: 256>, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: mma-to-wgmma-refuses.mlir:[[# @LINE + 1]]:3: error: a buffer without the layout swizzle128, swizzle64 or swizzle32; the copy engine and wgmma need it here
  gpu.func @parameter(%a: memref<64x64xf16, 3>) kernel {
    %c = arith.constant dense<0.0> : vector<64x64xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
    gpu.return
  }
}
