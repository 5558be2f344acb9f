// mark-tensor-maps leaves functions alone that have no tensor maps; it has no options.
// RUN: mlir-gemm opt %s mark-tensor-maps | FileCheck %s
// RUN: not mlir-gemm opt %s 'mark-tensor-maps{align=64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'mark-tensor-maps' has no option 'align' (options: none)

// CHECK: llvm.func @plain(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {nvvm.kernel}
llvm.func @plain(%a: !llvm.ptr, %b: !llvm.ptr) attributes {nvvm.kernel} {
  llvm.return
}
