// vulkan-interface: a kernel takes storage buffers and push constants.
// RUN: mlir-gemm opt %s vulkan-interface | FileCheck %s

// CHECK: module {
// CHECK: gpu.module @kernel attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3,
// CHECK: gpu.func @kernel(%[[A:.*]]: memref<?xf32, #spirv.storage_class<StorageBuffer>> {spirv.interface_var_abi = #spirv.interface_var_abi<(0, 0)>}, %[[WORDS:.*]]: memref<3xi32, #spirv.storage_class<PushConstant>>
// CHECK-SAME: spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [64, 1, 1]>
// CHECK: builtin.unrealized_conversion_cast %[[A]] : {{.*}} to memref<4x8xf32>
// CHECK: %[[N:.*]] = memref.load %[[WORDS]][%{{.*}}]
// CHECK: arith.index_castui %[[N]] : i32 to index
// CHECK: arith.bitcast %{{.*}} : i64 to f64
// CHECK: gpu.module @kernels
// CHECK: func.func private @kernel() attributes {gpu.kernel}
gpu.module @kernels {
  gpu.func @kernel(%n: index, %a: memref<4x8xf32>, %x: f64) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : index
    %narrow = arith.truncf %x : f64 to f32
    memref.store %narrow, %a[%zero, %n] : memref<4x8xf32>
    gpu.return
  }
}
