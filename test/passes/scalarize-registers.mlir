// scalarize-registers: vectors in registers become numbers, and what loops and branches carry becomes variables.
// RUN: mlir-gemm opt %s scalarize-registers | FileCheck %s
// RUN: mlir-gemm opt %s scalarize-registers scalarize-registers | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
// CHECK: memref.alloca() : memref<1xf32, #spirv.storage_class<Function>>
// CHECK: memref.alloca() : memref<1xf32, #spirv.storage_class<Function>>
// CHECK-NOT: vector
// The variables hold the initial value, also where no turn runs.
// CHECK: memref.store %{{.*}}, %[[FIRST:.*]][%{{.*}}] : memref<1xf32
// CHECK: memref.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: math.fma %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: memref.store
// CHECK: }
// CHECK: memref.load
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %n: index, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %start = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    %both = vector.broadcast %x : f32 to vector<2xf32>
    %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (vector<2xf32>) {
      %next = vector.fma %both, %both, %acc : vector<2xf32>
      scf.yield %next : vector<2xf32>
    }
    %last = vector.extract %sum[1] : f32 from vector<2xf32>
    memref.store %last, %out[%zero] : memref<1xf32>
    gpu.return
  }
}
