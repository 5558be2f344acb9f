// sign-products leaves alone what multiplies no integers. It has no options.
// RUN: mlir-gemm opt %s sign-products | FileCheck %s
// RUN: not mlir-gemm opt %s 'sign-products{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'sign-products' has no option 'a' (options: none)
// CHECK: spirv.KHR.CooperativeMatrixMulAdd
// CHECK-NOT: Signed
spirv.module Logical Vulkan {
  spirv.func @floats(%a: !spirv.coopmatrix<16x32xf16, Subgroup, MatrixA>, %b: !spirv.coopmatrix<32x16xf16, Subgroup, MatrixB>, %c: !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>) "None" {
    %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : !spirv.coopmatrix<16x32xf16, Subgroup, MatrixA>, !spirv.coopmatrix<32x16xf16, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
    spirv.Return
  }
}
