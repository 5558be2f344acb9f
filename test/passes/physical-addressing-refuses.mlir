// physical-addressing refuses nothing: it leaves modules of another addressing alone. It has no options.
// RUN: mlir-gemm opt %s physical-addressing | FileCheck %s
// RUN: not mlir-gemm opt %s 'physical-addressing{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'physical-addressing' has no option 'a' (options: none)
// CHECK: spirv.module Logical GLSL450
// CHECK: spirv.GlobalVariable @places built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
spirv.module Logical GLSL450 {
  spirv.GlobalVariable @places built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
}

// CHECK: spirv.module Physical64 OpenCL
// CHECK-NOT: ContractionOff
spirv.module Physical64 OpenCL {
  spirv.func @kernel(%x: f32) -> f32 "None" {
    %0 = spirv.CL.fma %x, %x, %x : f32
    spirv.ReturnValue %0 : f32
  }
}
