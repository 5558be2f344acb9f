// narrow-comparisons: what had 32 bits before it was made longer is compared in 32 bits.
// RUN: mlir-gemm opt %s narrow-comparisons | FileCheck %s

// CHECK: gpu.func @kernel(%[[N:.*]]: index, %[[I:.*]]: i32, %[[J:.*]]: i32, %[[L:.*]]: i64
// CHECK: arith.cmpi sge, %[[N]], %{{.*}} : index
// CHECK: arith.cmpi slt, %[[I]], %[[J]] : i32
// Unsigned orders are those of the signs' extensions, too.
// CHECK: arith.cmpi ult, %{{.*}}, %[[I]] : i32
// What does not fit, or has 64 bits, stays.
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi eq, %{{.*}}, %[[L]] : i64
gpu.module @kernels {
  gpu.func @kernel(%n: index, %i: i32, %j: i32, %l: i64, %out: memref<5xi1>) kernel {
    %two = arith.constant 2 : i64
    %far = arith.constant 2147483648 : i64
    %0 = arith.constant 0 : index
    %wn = arith.index_cast %n : index to i64
    %wi = arith.extsi %i : i32 to i64
    %wj = arith.extsi %j : i32 to i64
    %a = arith.cmpi sge, %wn, %two : i64
    memref.store %a, %out[%0] : memref<5xi1>
    %b = arith.cmpi slt, %wi, %wj : i64
    memref.store %b, %out[%0] : memref<5xi1>
    %c = arith.cmpi ult, %two, %wi : i64
    memref.store %c, %out[%0] : memref<5xi1>
    %d = arith.cmpi sge, %wn, %far : i64
    memref.store %d, %out[%0] : memref<5xi1>
    %e = arith.cmpi eq, %wn, %l : i64
    memref.store %e, %out[%0] : memref<5xi1>
    gpu.return
  }
}
