// sign-products: products of cooperative matrices of integers say which of their matrices are signed.
// RUN: mlir-gemm opt %s sign-products | FileCheck %s
// RUN: mlir-gemm opt %s sign-products sign-products | FileCheck %s

// CHECK-LABEL: @signed
// CHECK: spirv.KHR.CooperativeMatrixMulAdd {{.*}}, <ASigned|BSigned|CSigned|ResultSigned>
// CHECK-LABEL: @unsigned
// CHECK-NOT: Signed
spirv.module Logical Vulkan {
  spirv.func @signed(%a: !spirv.coopmatrix<16x32xsi8, Subgroup, MatrixA>, %b: !spirv.coopmatrix<32x16xsi8, Subgroup, MatrixB>, %c: !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>) "None" {
    %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : !spirv.coopmatrix<16x32xsi8, Subgroup, MatrixA>, !spirv.coopmatrix<32x16xsi8, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>
    spirv.Return
  }
  spirv.func @unsigned(%a: !spirv.coopmatrix<16x32xui8, Subgroup, MatrixA>, %b: !spirv.coopmatrix<32x16xui8, Subgroup, MatrixB>, %c: !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>) "None" {
    %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : !spirv.coopmatrix<16x32xui8, Subgroup, MatrixA>, !spirv.coopmatrix<32x16xui8, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>
    spirv.Return
  }
}
