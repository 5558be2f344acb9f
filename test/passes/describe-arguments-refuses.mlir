// describe-arguments takes what it cannot judge for read and written, leaves declarations alone, and has no options.
// RUN: mlir-gemm opt %s describe-arguments | FileCheck %s
// RUN: not mlir-gemm opt %s 'describe-arguments{role=in}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'describe-arguments' has no option 'role' (options: none)

// CHECK-LABEL: func.func @through_a_view(
//  CHECK-SAME: memref<32x48xf32> {tile.role = "inout"}, %{{[^:]*}}: f32 {tile.role = "in"})
func.func @through_a_view(%A: memref<32x48xf32>, %x: f32) {
  %view = memref.subview %A[0, 0] [16, 16] [1, 1] : memref<32x48xf32> to memref<16x16xf32, strided<[48, 1]>>
  linalg.fill ins(%x : f32) outs(%view : memref<16x16xf32, strided<[48, 1]>>)
  return
}

// CHECK-LABEL: func.func @in_a_loop(
//  CHECK-SAME: memref<32x48xf32> {tile.role = "inout"}
func.func @in_a_loop(%A: memref<32x48xf32>, %x: f32, %n: index) {
  scf.for %i = %n to %n step %n {
    linalg.fill ins(%x : f32) outs(%A : memref<32x48xf32>)
  }
  return
}

// CHECK: func.func private @declaration(memref<32x32xf16>)
func.func private @declaration(memref<32x32xf16>)
