// select-glsl refuses nothing: it leaves what it does not know.
// RUN: mlir-gemm opt %s select-glsl | FileCheck %s

// CHECK: math.sin
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %s = math.sin %x : f32
    memref.store %s, %out[%zero] : memref<1xf32>
    gpu.return
  }
}
