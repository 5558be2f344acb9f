// split-fma: a product's multiplications and additions stand apart, for the driver to fuse where its device can.
// RUN: mlir-gemm opt %s split-fma | FileCheck %s
// RUN: mlir-gemm opt %s split-fma split-fma | FileCheck %s

// CHECK-NOT: vector.fma
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[V:.*]], %[[V]] : vector<2xf32>
// CHECK: arith.addf %[[PRODUCT]], %{{.*}} : vector<2xf32>
// CHECK: math.fma
gpu.module @kernels {
  gpu.func @kernel(%v: vector<2xf32>, %x: f32, %out: memref<2xf32>) kernel {
    %zero = arith.constant 0 : index
    %start = arith.constant dense<1.0> : vector<2xf32>
    %sum = vector.fma %v, %v, %start : vector<2xf32>
    %one = math.fma %x, %x, %x : f32
    memref.store %one, %out[%zero] : memref<2xf32>
    vector.store %sum, %out[%zero] : memref<2xf32>, vector<2xf32>
    gpu.return
  }
}
