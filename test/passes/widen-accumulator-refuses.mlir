// widen-accumulator leaves products of other types and of dynamic sizes alone.
// RUN: mlir-gemm opt %s widen-accumulator | FileCheck %s
// RUN: not mlir-gemm opt %s 'widen-accumulator{to=f64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'widen-accumulator' has no option 'to' (options: none)

// CHECK-LABEL: func.func @wide_already(
//  CHECK-NEXT:   linalg.matmul ins({{.*}}) outs({{.*}} : memref<32x48xf32>)
//  CHECK-NEXT:   return
func.func @wide_already(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  return
}

// CHECK-LABEL: func.func @other_operands(
//  CHECK-NEXT:   linalg.matmul ins({{.*}}) outs({{.*}} : memref<32x48xf16>)
//  CHECK-NEXT:   return
func.func @other_operands(%A: memref<32x32xf32>, %B: memref<32x48xf32>, %C: memref<32x48xf16>) {
  linalg.matmul ins(%A, %B : memref<32x32xf32>, memref<32x48xf32>) outs(%C : memref<32x48xf16>)
  return
}

// CHECK-LABEL: func.func @dynamic(
//  CHECK-NEXT:   linalg.matmul ins({{.*}}) outs({{.*}} : memref<?x48xf16>)
//  CHECK-NEXT:   return
func.func @dynamic(%A: memref<?x32xf16>, %B: memref<32x48xf16>, %C: memref<?x48xf16>) {
  linalg.matmul ins(%A, %B : memref<?x32xf16>, memref<32x48xf16>) outs(%C : memref<?x48xf16>)
  return
}
