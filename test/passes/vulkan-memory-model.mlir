// vulkan-memory-model: a module in SPIR-V goes by Vulkan's memory model.
// RUN: mlir-gemm opt %s vulkan-memory-model | FileCheck %s
// RUN: mlir-gemm opt %s vulkan-memory-model vulkan-memory-model | FileCheck %s

// CHECK: spirv.module Logical Vulkan
// CHECK: spirv.Load "StorageBuffer" %{{.*}} ["NonPrivatePointer"] : f32
// CHECK: spirv.Store "Function" %{{.*}}, %{{.*}} : f32
// CHECK: spirv.Store "Workgroup" %{{.*}}, %{{.*}} ["NonPrivatePointer"] : f32
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
spirv.module Logical GLSL450 {
  spirv.func @kernel(%a: !spirv.ptr<f32, StorageBuffer>, %s: !spirv.ptr<f32, Workgroup>) "None" {
    %v = spirv.Variable : !spirv.ptr<f32, Function>
    %x = spirv.Load "StorageBuffer" %a : f32
    spirv.Store "Function" %v, %x : f32
    spirv.Store "Workgroup" %s, %x : f32
    spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
    spirv.Return
  }
}
