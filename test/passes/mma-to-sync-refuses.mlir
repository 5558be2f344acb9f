// What mma-to-sync refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s mma-to-sync 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-sync{instruction=16,8,8}' 2>&1 | FileCheck --check-prefix=EIGHT %s

gpu.module @kernels {
  gpu.func @types(%a: memref<16x16xf16, 3>, %b: memref<16x16xbf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: mma.sync has no product of f16 and bf16 into f32; supported: f16, f16 into f32; f16, f16 into f16; bf16, bf16 into f32; f32, f32 into f32; f64, f64 into f64; i8, i8 into i32
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xbf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @instruction(%a: memref<16x16xf32, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: mma.sync has no m16n8k16 for f32; supported: 16,8,8
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf32, 3>, memref<16x16xf32, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sizes(%a: memref<8x8xf16, 3>, %c: vector<8x8xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: a warp tile of (8, 8, 8); expected multiples of the instruction's (16, 8, 16)
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<8x8xf16, 3>, memref<8x8xf16, 3>, vector<8x8xf32>) -> vector<8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @orders(%a: memref<16x32xf16, 3>, %c: vector<16x32xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.mma': m is 32 in a and 16 in acc: a is 16x32 (km), b is 16x32 (kn), acc is 16x32 (mn); expected the same
    %d = "tile.mma"(%a, %a, %c) {a = "km", b = "kn", scope = "warp"} : (memref<16x32xf16, 3>, memref<16x32xf16, 3>, vector<16x32xf32>) -> vector<16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: a product of whole block tiles; expected warp tiles, which distribute-warps makes
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unknown(%a: memref<16x16xf16, 3>, %x: vector<16x16xf32>) kernel {
    // CHECK: error: 'vector.transpose' makes a tile that flows into warp tiles; that is not supported
    %c = vector.transpose %x, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @use(%a: memref<16x16xf16, 3>) kernel {
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: 'vector.transpose' on a tile that is kept in registers is not supported
    %e = vector.transpose %d, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @overlap(%a: memref<16x16xf16, 3>, %m: memref<32x32xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: this accesses memory that another 'tile.store' writes at another place, so that lanes would read what others write; give one of them its own memory
    %c = "tile.load"(%m, %c0, %i) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp"} : (memref<32x32xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %m, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf32>, memref<32x32xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @element(%a: memref<16x16xf16, 3>, %m: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.store': the elements of value and memory are f32 and f16; expected one type
    "tile.store"(%d, %m, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp"} : (vector<16x16xf32>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @diagonal(%a: memref<16x16xf16, 3>, %m: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.load': dims = [0, 0] for a tile of 2 dimensions; expected each of 0 to 1 at most once, and -1 where the tile lies at one index
    %c = "tile.load"(%m, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>, scope = "warp", dims = array<i64: 0, 0>} : (memref<16x16xf32>, index, index) -> vector<16x16xf32>
    %d = "tile.mma"(%a, %a, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @matrices(%a: memref<16x8xbf16>, %b: memref<8x8xbf16>, %c: vector<16x8xf32>) kernel {
    // EIGHT: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: m16n8k8 on operands that ldmatrix cannot load; expected shared memory whose rows start at multiples of 16 bytes
    %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x8xbf16>, memref<8x8xbf16>, vector<16x8xf32>) -> vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @minima(%a: memref<16x16xf16, 3>, %c: vector<16x16xf32>) kernel {
    // CHECK: mma-to-sync-refuses.mlir:[[# @LINE + 1]]:10: error: a product by arith.minimumf(c, arith.addf(a, b)); expected one of numbers: mma-to-fma takes any algebra
    %d = "tile.mma"(%a, %a, %c) {a = "mk", algebra = "arith.minimumf(c, arith.addf(a, b))", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    gpu.return
  }
}
