// finish-spirv: the kernel in SPIR-V takes its place in the module that launches it.
// RUN: mlir-gemm opt %s vulkan-interface linearize-memory scalarize-registers select-glsl 'builtin.module(convert-gpu-to-spirv)' 'builtin.module(spirv.module(spirv-lower-abi-attrs,spirv-update-vce))' finish-spirv | FileCheck %s

// CHECK: module {
// CHECK-NEXT: gpu.module @kernels
// CHECK: func.func private @kernel() attributes {gpu.kernel}
// CHECK: spirv.module @__spv__kernel Logical GLSL450
// CHECK: spirv.GlobalVariable @kernel_arg_0 bind(0, 0)
// CHECK: spirv.GlobalVariable @kernel_arg_1 : !spirv.ptr<{{.*}}, PushConstant>
// CHECK: spirv.EntryPoint "GLCompute" @kernel
// CHECK: spirv.ExecutionMode @kernel "LocalSize", 64, 1, 1
gpu.module @kernels {
  gpu.func @kernel(%a: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = gpu.thread_id x
    memref.store %x, %a[%n] : memref<64xf32>
    gpu.return
  }
}
