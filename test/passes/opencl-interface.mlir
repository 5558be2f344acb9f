// opencl-interface: a kernel takes pointers to global memory and numbers.
// RUN: mlir-gemm opt %s opencl-interface | FileCheck %s

// CHECK: module {
// CHECK: gpu.module @kernel attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.2, [Kernel, Addresses,
// CHECK: gpu.func @kernel(%[[N:.*]]: i32, %[[A:.*]]: memref<?xf32, #spirv.storage_class<CrossWorkgroup>>, %{{.*}}: f64, %[[H:.*]]: i16, %[[B:.*]]: i8) kernel
// CHECK-SAME: spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [64, 1, 1]>
// CHECK: arith.index_castui %[[N]] : i32 to index
// CHECK: builtin.unrealized_conversion_cast %[[A]] : {{.*}} to memref<4x8xf32>
// CHECK: arith.bitcast %[[H]] : i16 to f16
// CHECK: arith.trunci %[[B]] : i8 to i1
// CHECK: gpu.module @kernels
// CHECK: func.func private @kernel() attributes {gpu.kernel}
gpu.module @kernels {
  gpu.func @kernel(%n: index, %a: memref<4x8xf32>, %x: f64, %h: f16, %b: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : index
    %narrow = arith.truncf %x : f64 to f32
    %wide = arith.extf %h : f16 to f32
    %either = arith.select %b, %narrow, %wide : f32
    memref.store %either, %a[%zero, %n] : memref<4x8xf32>
    gpu.return
  }
}
