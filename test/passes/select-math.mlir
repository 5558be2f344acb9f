// select-math: exact operations of math, arith.maxnumf and minnumf, ex2.approx and rcp.approx become PTX's intrinsics.
// RUN: mlir-gemm opt %s select-math | FileCheck %s
// RUN: mlir-gemm opt %s select-math select-math | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
// CHECK: %[[FMA:.*]] = llvm.call_intrinsic "llvm.fma.f32"(%[[X:.*]], %[[X]], %[[X]]) : (f32, f32, f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.maxnum.f32"(%[[FMA]], %[[X]])
// CHECK: llvm.call_intrinsic "llvm.floor.v4f16"(%{{.*}}) : (vector<4xf16>) -> vector<4xf16>
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %v: vector<4xf16>, %out: memref<1xf32>, %vout: memref<1xvector<4xf16>>) kernel {
    %zero = arith.constant 0 : index
    %f = math.fma %x, %x, %x : f32
    %m = arith.maxnumf %f, %x : f32
    %w = math.floor %v : vector<4xf16>
    memref.store %m, %out[%zero] : memref<1xf32>
    memref.store %w, %vout[%zero] : memref<1xvector<4xf16>>
    gpu.return
  }

  // LLVM has vectors of one dimension.
  // CHECK-LABEL: gpu.func @rows(
  // CHECK: %[[FIRST:.*]] = vector.extract %[[V:.*]][0] : vector<4xf32> from vector<2x4xf32>
  // CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.v4f32"(%[[FIRST]])
  // CHECK: %[[PART:.*]] = vector.insert %[[ROOT]], %[[V]] [0]
  // CHECK: vector.extract %[[V]][1]
  // CHECK: vector.insert %{{.*}}, %[[PART]] [1]
  gpu.func @rows(%v: vector<2x4xf32>, %out: memref<1xvector<2x4xf32>>) kernel {
    %zero = arith.constant 0 : index
    %r = math.sqrt %v : vector<2x4xf32>
    memref.store %r, %out[%zero] : memref<1xvector<2x4xf32>>
    gpu.return
  }

  // What the flag allows to be approximate: a reciprocal instead of a division.
  // CHECK-LABEL: gpu.func @approximate(
  // CHECK: %[[POWER:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[Y:[a-z0-9]+]])
  // CHECK: %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[POWER]])
  // CHECK: arith.mulf %[[Y]], %[[INVERSE]]
  // CHECK: arith.divf %[[Y]], %[[POWER]] : f32
  gpu.func @approximate(%y: f32, %out: memref<2xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %p = math.exp2 %y fastmath<afn> : f32
    %q = arith.divf %y, %p fastmath<afn> : f32
    %r = arith.divf %y, %p : f32
    memref.store %q, %out[%zero] : memref<2xf32>
    memref.store %r, %out[%one] : memref<2xf32>
    gpu.return
  }
}
