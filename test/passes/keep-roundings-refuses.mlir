// keep-roundings refuses nothing: it leaves kernels without an fma.
// RUN: mlir-gemm opt %s keep-roundings | FileCheck %s

// CHECK-NOT: no_contraction
spirv.module Logical GLSL450 {
  spirv.func @plain(%x: f32) -> f32 "None" {
    %sum = spirv.FAdd %x, %x : f32
    spirv.ReturnValue %sum : f32
  }
}
