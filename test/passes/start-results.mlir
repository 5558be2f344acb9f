// start-results: what a loop gives is what it starts from, where it runs no turn.
// RUN: mlir-gemm opt %s start-results | FileCheck %s

// CHECK: spirv.func @loop(%[[START:.*]]: f32, %[[COUNT:.*]]: i32)
// CHECK-NEXT: %[[RESULT:.*]] = spirv.Variable
// CHECK: spirv.Store "Function" %[[RESULT]], %[[START]] : f32
// CHECK-NEXT: spirv.mlir.loop
spirv.module Logical GLSL450 {
  spirv.func @loop(%start: f32, %count: i32) -> f32 "None" {
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    %result = spirv.Variable : !spirv.ptr<f32, Function>
    spirv.mlir.loop {
      spirv.Branch ^header(%zero, %start : i32, f32)
    ^header(%i: i32, %x: f32):
      %more = spirv.SLessThan %i, %count : i32
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      %y = spirv.FAdd %x, %x : f32
      %next = spirv.IAdd %i, %one : i32
      spirv.Store "Function" %result, %y : f32
      spirv.Branch ^header(%next, %y : i32, f32)
    ^merge:
      spirv.mlir.merge
    }
    %found = spirv.Load "Function" %result : f32
    spirv.ReturnValue %found : f32
  }
}
