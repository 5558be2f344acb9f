// evict-loads leaves alone what is read again, what is in shared memory, and what no instruction loads at once.
// RUN: mlir-gemm opt %s evict-loads | FileCheck %s
// RUN: not mlir-gemm opt %s 'evict-loads{keep=3}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'evict-loads' has no option 'keep' (options: none)

// CHECK-LABEL: llvm.func @k(
//   CHECK-NOT:   inline_asm
//       CHECK:   llvm.load %arg0 : !llvm.ptr -> f32
//       CHECK:   llvm.load %arg1 {nontemporal} : !llvm.ptr<3> -> f32
//       CHECK:   llvm.load %arg0 {nontemporal} : !llvm.ptr -> vector<3xf32>
llvm.func @k(%arg0: !llvm.ptr, %arg1: !llvm.ptr<3>) attributes {nvvm.kernel} {
  %0 = llvm.load %arg0 : !llvm.ptr -> f32
  %1 = llvm.load %arg1 {nontemporal} : !llvm.ptr<3> -> f32
  %2 = llvm.load %arg0 {nontemporal} : !llvm.ptr -> vector<3xf32>
  llvm.store %0, %arg0 : f32, !llvm.ptr
  llvm.store %1, %arg0 : f32, !llvm.ptr
  llvm.store %2, %arg0 : vector<3xf32>, !llvm.ptr
  llvm.return
}
