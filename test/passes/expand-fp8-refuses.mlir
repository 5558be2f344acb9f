// What expand-fp8 refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s expand-fp8 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @sum(%x: f8E5M2, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-fp8-refuses.mlir:[[# @LINE + 1]]:10: error: 'arith.addf' on 8-bit floats; expected arith.extf to a wider type first
    %r = arith.addf %x, %x : f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @other(%x: f8E4M3, %out: memref<1xf16>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-fp8-refuses.mlir:[[# @LINE + 1]]:10: error: a conversion between f8E4M3 and f16; expected f8E4M3FN or f8E5M2 or f8E4M3FNUZ and f16 to f64
    %r = arith.extf %x : f8E4M3 to f16
    memref.store %r, %out[%zero] : memref<1xf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @twice(%x: f64, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-fp8-refuses.mlir:[[# @LINE + 1]]:10: error: f64 to f8E5M2 would be rounded twice; convert to f32 first
    %r = arith.truncf %x : f64 to f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @down(%x: f32, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-fp8-refuses.mlir:[[# @LINE + 1]]:10: error: to f8E5M2 in rounding mode {{.*}}; expected to nearest even
    %r = arith.truncf %x downward : f32 to f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @whole(%x: i32, %out: memref<1xf8E4M3>) kernel {
    %zero = arith.constant 0 : index
    // CHECK: expand-fp8-refuses.mlir:[[# @LINE + 1]]:10: error: a conversion between integers and f8E4M3; expected f8E4M3FN or f8E5M2 or f8E4M3FNUZ
    %r = arith.sitofp %x : i32 to f8E4M3
    memref.store %r, %out[%zero] : memref<1xf8E4M3>
    gpu.return
  }
}
