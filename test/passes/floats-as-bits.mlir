// floats-as-bits: numbers of bf16 and of 8-bit floats, which SPIR-V lacks, become integers that hold their bits.
// RUN: mlir-gemm opt %s floats-as-bits | FileCheck %s
// RUN: mlir-gemm opt %s floats-as-bits floats-as-bits | FileCheck %s

// CHECK-LABEL: gpu.func @sums
// CHECK-NOT: bf16
// CHECK: %[[X:.*]] = memref.load %{{.*}} : memref<?xi16>
// CHECK: %[[ONE:.*]] = arith.constant 16256 : i16
// CHECK: %[[WIDE:.*]] = arith.extui %[[X]] : i16 to i32
// CHECK: %[[PLACED:.*]] = arith.shli %[[WIDE]]
// CHECK: %[[LEFT:.*]] = arith.bitcast %[[PLACED]] : i32 to f32
// CHECK: %[[SUM:.*]] = arith.addf %[[LEFT]], %{{.*}} : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
// CHECK: arith.constant 32767 : i32
// CHECK: arith.shrui
// CHECK: %[[NAN:.*]] = arith.constant 32704 : i32
// CHECK: arith.select %{{.*}}, %[[NAN]]
// CHECK: %[[HALF:.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK: memref.store %[[HALF]], %{{.*}} : memref<?xi16>
gpu.module @kernels {
  gpu.func @sums(%x: memref<?xi16>) kernel {
    %zero = arith.constant 0 : index
    %bits = memref.load %x[%zero] : memref<?xi16>
    %number = arith.bitcast %bits : i16 to bf16
    %one = arith.constant 1.0 : bf16
    %sum = arith.addf %number, %one : bf16
    %after = arith.bitcast %sum : bf16 to i16
    memref.store %after, %x[%zero] : memref<?xi16>
    gpu.return
  }

  // f64 is rounded to odd before.
  // CHECK-LABEL: gpu.func @once
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK: arith.ori
  // CHECK-NOT: bf16
  gpu.func @once(%d: f64, %x: memref<?xi16>) kernel {
    %zero = arith.constant 0 : index
    %number = arith.truncf %d : f64 to bf16
    %after = arith.bitcast %number : bf16 to i16
    memref.store %after, %x[%zero] : memref<?xi16>
    gpu.return
  }

  // 8-bit floats are moved only.
  // CHECK-LABEL: gpu.func @moved
  // CHECK: arith.select %{{.*}} : i8
  // CHECK-NOT: f8E4M3FN
  gpu.func @moved(%c: i1, %x: memref<?xi8>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = memref.load %x[%zero] : memref<?xi8>
    %b = memref.load %x[%one] : memref<?xi8>
    %left = arith.bitcast %a : i8 to f8E4M3FN
    %right = arith.bitcast %b : i8 to f8E4M3FN
    %chosen = arith.select %c, %left, %right : f8E4M3FN
    %after = arith.bitcast %chosen : f8E4M3FN to i8
    memref.store %after, %x[%zero] : memref<?xi8>
    gpu.return
  }
}
