// keep-roundings: drivers compute what is written, with the roundings that are written.
// RUN: mlir-gemm opt %s keep-roundings | FileCheck %s

spirv.module Logical GLSL450 {
  // CHECK-LABEL: spirv.func @rounded
  // CHECK: spirv.GL.Fma
  // CHECK: spirv.FSub %{{.*}}, %{{.*}} {no_contraction} : f32
  spirv.func @rounded(%x: f32, %big: f32) -> f32 "None" {
    %sum = spirv.GL.Fma %x, %x, %big : f32
    %whole = spirv.FSub %sum, %big : f32
    spirv.ReturnValue %whole : f32
  }
}
