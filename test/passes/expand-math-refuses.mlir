// RUN: not mlir-gemm opt --split-input-file %s expand-math 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @power(%x: i32, %out: memref<1xi32>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-math-refuses.mlir:[[# @LINE + 1]]:10: error: 'math.ipowi' has no formula here; of the dialect math there are absf, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, ceil,
    %r = math.ipowi %x, %x : i32
    memref.store %r, %out[%zero] : memref<1xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wide(%x: vector<4xf64>, %out: memref<1xvector<4xf64>>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-math-refuses.mlir:[[# @LINE + 1]]:10: error: 'math.sin' on f64 has no formula here; for f64 there are exp, log, tanh, erf, rsqrt, isnan, isinf, isfinite
    %r = math.sin %x : vector<4xf64>
    memref.store %r, %out[%zero] : memref<1xvector<4xf64>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @narrow(%x: f8E5M2, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-math-refuses.mlir:[[# @LINE + 1]]:10: error: 'math.exp' on f8E5M2; expected f16, bf16, f32 or f64
    %r = math.exp %x : f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}
