// Every operation of math has a formula; of the types, those that arithmetic is done in.
// RUN: not mlir-gemm opt --split-input-file %s expand-math 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @narrow(%x: f8E5M2, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-math-refuses.mlir:[[# @LINE + 1]]:10: error: 'math.exp' on f8E5M2; expected f16, bf16, f32 or f64
    %r = math.exp %x : f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wide(%x: f128, %out: memref<1xf128>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-math-refuses.mlir:[[# @LINE + 1]]:10: error: 'math.atan' on f128; expected f16, bf16, f32 or f64
    %r = math.atan %x : f128
    memref.store %r, %out[%zero] : memref<1xf128>
    gpu.return
  }
}
