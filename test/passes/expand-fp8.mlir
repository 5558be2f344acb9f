// expand-fp8: conversions of 8-bit floats become arithmetic on their bits.
// RUN: mlir-gemm opt %s expand-fp8 | FileCheck %s
// RUN: mlir-gemm opt %s expand-fp8 expand-fp8 | FileCheck %s

// To f16 by moving the bits; the exponents of E4M3 are 8 too small there.
// CHECK-LABEL: gpu.func @widen(
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<16xf8E4M3FN> to vector<16xi8>
// CHECK: arith.extui %[[BITS]] : vector<16xi8> to vector<16xi16>
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : vector<16xi16> to vector<16xf16>
// CHECK: %[[SCALE:.*]] = arith.constant dense<2.560000e+02> : vector<16xf16>
// CHECK: arith.mulf %[[HALF]], %[[SCALE]] : vector<16xf16>
// CHECK: %[[WIDE:.*]] = arith.select
// CHECK: arith.extf %[[WIDE]] : vector<16xf16> to vector<16xf32>
gpu.module @kernels {
  gpu.func @widen(%in: memref<16xf8E4M3FN>, %out: memref<16xf32>) kernel {
    %zero = arith.constant 0 : index
    %x = vector.load %in[%zero] : memref<16xf8E4M3FN>, vector<16xf8E4M3FN>
    %r = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf32>
    vector.store %r, %out[%zero] : memref<16xf32>, vector<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @narrow(
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK-NOT: arith.truncf
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  // CHECK: arith.bitcast %{{.*}} : i8 to f8E5M2
  gpu.func @narrow(%x: bf16, %out: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    %r = arith.truncf %x : bf16 to f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    gpu.return
  }

  // By way of f32.
  // CHECK-LABEL: gpu.func @whole(
  // CHECK: arith.sitofp %{{.*}} : i32 to f32
  // CHECK: %[[EIGHT:.*]] = arith.bitcast %{{.*}} : i8 to f8E5M2
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.fptosi %{{.*}} : f32 to i32
  gpu.func @whole(%x: i32, %y: f8E4M3FN, %out: memref<1xf8E5M2>, %number: memref<1xi32>) kernel {
    %zero = arith.constant 0 : index
    %r = arith.sitofp %x : i32 to f8E5M2
    memref.store %r, %out[%zero] : memref<1xf8E5M2>
    %n = arith.fptosi %y : f8E4M3FN to i32
    memref.store %n, %number[%zero] : memref<1xi32>
    gpu.return
  }
}
