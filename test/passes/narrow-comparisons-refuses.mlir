// narrow-comparisons refuses nothing: it leaves other comparisons, and code outside of kernels, alone. It has no options.
// RUN: mlir-gemm opt %s narrow-comparisons | FileCheck %s
// RUN: not mlir-gemm opt %s 'narrow-comparisons{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'narrow-comparisons' has no option 'a' (options: none)
// CHECK: func.func @other
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
func.func @other(%i: i32, %j: i32) -> i1 {
  %0 = arith.extsi %i : i32 to i64
  %1 = arith.extsi %j : i32 to i64
  %2 = arith.cmpi slt, %0, %1 : i64
  return %2 : i1
}

// Of extensions without signs, and of two widths, nothing is known.
// CHECK: gpu.func @kernel
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
gpu.module @kernels {
  gpu.func @kernel(%n: index, %i: i32, %j: i32, %out: memref<2xi1>) kernel {
    %zero = arith.constant 0 : index
    %0 = arith.extui %i : i32 to i64
    %1 = arith.extsi %j : i32 to i64
    %2 = arith.cmpi slt, %0, %1 : i64
    memref.store %2, %out[%zero] : memref<2xi1>
    %3 = arith.index_cast %n : index to i64
    %4 = arith.cmpi slt, %3, %1 : i64
    memref.store %4, %out[%zero] : memref<2xi1>
    gpu.return
  }
}
