// expand-math, with exp by ex2.approx.
// RUN: mlir-gemm opt %s 'expand-math{exp=ex2}' | FileCheck %s
// RUN: mlir-gemm opt %s 'expand-math{exp=ex2}' 'expand-math{exp=ex2}' | FileCheck %s

// An f32 result: the argument is divided into whole powers of two and an exact rest.
// CHECK-LABEL: gpu.func @exact(
// CHECK-COUNT-3: math.fma
// CHECK: math.exp2 %{{.*}} fastmath<afn> : f32
gpu.module @kernels {
  gpu.func @exact(%x: f32, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %r = math.exp %x : f32
    memref.store %r, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // What is rounded to 16 bits needs no exact argument; what goes to shared memory does not count.
  // CHECK-LABEL: gpu.func @rounded(
  // CHECK-NOT: math.fma
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK: math.exp2 %[[PRODUCT]] fastmath<afn> : vector<2xf32>
  // CHECK: gpu.return
  gpu.func @rounded(%x: vector<2xf32>, %out: memref<2xbf16>) kernel {
    %zero = arith.constant 0 : index
    %shared = memref.alloc() : memref<2xf32, 3>
    %r = math.exp %x : vector<2xf32>
    vector.store %r, %shared[%zero] : memref<2xf32, 3>, vector<2xf32>
    %n = arith.truncf %r : vector<2xf32> to vector<2xbf16>
    vector.store %n, %out[%zero] : memref<2xbf16>, vector<2xbf16>
    gpu.return
  }

  // One of two results is not rounded.
  // CHECK-LABEL: gpu.func @both(
  // CHECK: math.fma
  gpu.func @both(%x: f32, %out: memref<1xf16>, %sum: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %r = math.exp %x : f32
    memref.store %r, %sum[%zero] : memref<1xf32>
    %n = arith.truncf %r : f32 to f16
    memref.store %n, %out[%zero] : memref<1xf16>
    gpu.return
  }
}
