// l2-eviction-policy has nothing to refuse.
// RUN: not mlir-gemm opt %s 'l2-eviction-policy{a=33}' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlir-gemm opt %s 'l2-eviction-policy{b=-1}' 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=0 b=0}' | FileCheck %s

// MANY: pass 'l2-eviction-policy': a=33; expected 0 to 32
// MANY-NOT: Traceback
// FEW: pass 'l2-eviction-policy': b=-1; expected 0 to 32

// It refuses nothing else: without products no copy is an operand's.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: keep
func.func @alone(%X: !llvm.ptr) {
  %z = arith.constant 0 : index
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
  "tile.tma_load"(%A, %X, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  return
}
