// select-opencl refuses nothing: it leaves what it does not know, and code outside of kernels, alone. It has no options.
// RUN: mlir-gemm opt %s select-opencl | FileCheck %s
// RUN: not mlir-gemm opt %s 'select-opencl{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'select-opencl' has no option 'a' (options: none)
// CHECK: func.func @other
// CHECK: math.fma
func.func @other(%x: f32) -> f32 {
  %0 = math.fma %x, %x, %x : f32
  return %0 : f32
}

// CHECK: gpu.func @kernel
// CHECK: math.tanh
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %0 = math.tanh %x : f32
    memref.store %0, %out[%zero] : memref<1xf32>
    gpu.return
  }
}
