// What start-results refuses: a loop that keeps its results otherwise than convert-gpu-to-spirv does.
// RUN: not mlir-gemm opt %s start-results 2>&1 | FileCheck %s

spirv.module Logical GLSL450 {
  spirv.func @loop(%start: f32, %count: i32) "None" {
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    // CHECK: start-results-refuses.mlir:[[# @LINE + 1]]:5: error: a loop whose results are not stored at the end of its turns; expected one that convert-gpu-to-spirv made
    spirv.mlir.loop {
      spirv.Branch ^header(%zero, %start : i32, f32)
    ^header(%i: i32, %x: f32):
      %more = spirv.SLessThan %i, %count : i32
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      %next = spirv.IAdd %i, %one : i32
      spirv.Branch ^header(%next, %x : i32, f32)
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
}
