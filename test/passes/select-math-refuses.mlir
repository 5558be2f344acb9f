// select-math has nothing to refuse.
// RUN: mlir-gemm opt %s select-math | FileCheck %s

// It refuses nothing: what needs a formula is left to expand-math, what is no kernel to others.
// CHECK-LABEL: gpu.func @kernel(
// CHECK: math.exp
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %r = math.exp %x : f32
    memref.store %r, %out[%zero] : memref<1xf32>
    gpu.return
  }
}

// CHECK-LABEL: func.func @host(
// CHECK: math.sqrt
func.func @host(%x: f32) -> f32 {
  %r = math.sqrt %x : f32
  return %r : f32
}
