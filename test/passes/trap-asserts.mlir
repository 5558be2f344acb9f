// trap-asserts: assertions of kernels become traps.
// RUN: mlir-gemm opt %s trap-asserts canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s trap-asserts trap-asserts canonicalize | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @checked
  // CHECK: %[[NOT:.*]] = arith.xori %{{.*}}, %true : i1
  // CHECK: scf.if %[[NOT]] {
  // CHECK-NEXT: llvm.intr.trap
  // CHECK-NOT: cf.assert
  gpu.func @checked(%inside: i1) kernel {
    cf.assert %inside, "index must be smaller than dim size"
    gpu.return
  }
}
