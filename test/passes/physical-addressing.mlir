// physical-addressing: pointers of 64 bits, and numbers of threads as the hardware gives them.
// RUN: mlir-gemm opt %s opencl-interface 'linearize-memory{width=element}' select-opencl 'builtin.module(convert-gpu-to-spirv)' physical-addressing | FileCheck %s
// RUN: mlir-gemm opt %s vulkan-interface linearize-memory select-glsl 'builtin.module(convert-gpu-to-spirv)' physical-addressing | FileCheck %s --check-prefix=VULKAN

// VULKAN: spirv.module @__spv__kernel Logical GLSL450
// VULKAN: built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>

// CHECK: spirv.module @__spv__kernel Physical64 OpenCL
// CHECK: spirv.GlobalVariable @[[PLACES:.*]] built_in("LocalInvocationId") : !spirv.ptr<vector<3xi64>, Input>
// CHECK: spirv.func @kernel(%[[A:.*]]: !spirv.ptr<f32, CrossWorkgroup>, %[[X:.*]]: f32)
// CHECK: spirv.mlir.addressof @[[PLACES]] : !spirv.ptr<vector<3xi64>, Input>
// CHECK: %[[PLACE:.*]] = spirv.CompositeExtract %{{.*}}[0 : i32] : vector<3xi64>
// CHECK: %[[N:.*]] = spirv.UConvert %[[PLACE]] : i64 to i32
// CHECK: spirv.PtrAccessChain %[[A]][%[[N]]] : !spirv.ptr<f32, CrossWorkgroup>, i32
gpu.module @kernels {
  gpu.func @kernel(%a: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = gpu.thread_id x
    memref.store %x, %a[%n] : memref<64xf32>
    gpu.return
  }
}

// A kernel with an fma counts on its roundings.
// RUN: mlir-gemm opt %s opencl-interface 'linearize-memory{width=element}' select-opencl 'builtin.module(convert-gpu-to-spirv)' physical-addressing | FileCheck %s --check-prefix=FMA

// FMA: spirv.CL.fma
// FMA: spirv.ExecutionMode @rounded "ContractionOff"
gpu.module @others {
  gpu.func @rounded(%a: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %n = gpu.thread_id x
    %y = math.fma %x, %x, %x : f32
    memref.store %y, %a[%n] : memref<64xf32>
    gpu.return
  }
}
