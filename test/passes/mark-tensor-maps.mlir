// mark-tensor-maps: the parameters of a kernel that are tensor maps are passed by value, as the copy engine needs
// them.
// RUN: mlir-gemm opt %s mark-tensor-maps | FileCheck %s
// RUN: mlir-gemm opt %s mark-tensor-maps mark-tensor-maps | FileCheck %s

//       CHECK: llvm.func @kernel(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
//  CHECK-SAME:   %[[C:[a-z0-9]*]]: !llvm.ptr {llvm.noalias},
//  CHECK-SAME:   %[[N:[a-z0-9]*]]: i64,
//  CHECK-SAME:   %[[D:[a-z0-9]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
//   CHECK-NOT:   tile.maps
llvm.func @kernel(%a: !llvm.ptr, %c: !llvm.ptr {llvm.noalias}, %n: i64, %d: !llvm.ptr) attributes {nvvm.kernel, tile.maps = array<i64: 0, 3>} {
  llvm.return
}

// Without attributes of other parameters.
//       CHECK: llvm.func @bare(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, {{.*}}nvvm.grid_constant})
llvm.func @bare(%a: !llvm.ptr) attributes {nvvm.kernel, tile.maps = array<i64: 0>} {
  llvm.return
}
