// allow-contraction leaves kernels that store f32, other types than f32, and operations with flags of their own.
// RUN: mlir-gemm opt %s allow-contraction | FileCheck %s
// RUN: not mlir-gemm opt %s 'allow-contraction{always=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'allow-contraction' has no option 'always' (options: none)

// CHECK-LABEL: gpu.func @single(
//   CHECK-NOT:   contract
gpu.module @kernels {
  gpu.func @single(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %p, %x : f32
    memref.store %s, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @others(
  //   CHECK-NOT:   contract
  //       CHECK:   arith.mulf %{{.*}}, %{{.*}} fastmath<nnan> : f32
  //   CHECK-NOT:   contract
  gpu.func @others(%x: f64, %y: f32, %out: memref<1xf16>) kernel {
    %zero = arith.constant 0 : index
    %p = arith.mulf %x, %x : f64
    %s = arith.addf %p, %x : f64
    %q = arith.mulf %y, %y fastmath<nnan> : f32
    %t = arith.truncf %s : f64 to f16
    %u = arith.truncf %q : f32 to f16
    %v = arith.addf %t, %u : f16
    memref.store %v, %out[%zero] : memref<1xf16>
    gpu.return
  }
}
