// check-input lets through what the pipeline compiles, and changes nothing.
// RUN: sed '/^func.func @on_memrefs(/,/^}/!s/.*//' %s | mlir-gemm opt - check-input | FileCheck %s --check-prefix=MEMREFS
// RUN: sed '/^func.func @on_tensors(/,/^}/!s/.*//' %s | mlir-gemm opt - check-input | FileCheck %s --check-prefix=TENSORS

// An elementwise producer and consumer, a temporary and copies may stand beside the product.
// MEMREFS-LABEL: func.func @on_memrefs(
//       MEMREFS:   linalg.fill
//  MEMREFS-NEXT:   linalg.matmul
//  MEMREFS-NEXT:   linalg.generic
//       MEMREFS:     math.exp
//       MEMREFS:   memref.dealloc
//  MEMREFS-NEXT:   return
func.func @on_memrefs(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %D: memref<32x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %C = memref.alloc() : memref<32x48xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<32x48xf32>)
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%C : memref<32x48xf32>) outs(%D : memref<32x48xf32>) {
  ^bb0(%c: f32, %d: f32):
    %e = math.exp %c : f32
    linalg.yield %e : f32
  }
  memref.dealloc %C : memref<32x48xf32>
  return
}

// TENSORS-LABEL: func.func @on_tensors(
//       TENSORS:   %[[PRODUCT:.*]] = linalg.matmul
//  TENSORS-NEXT:   return %[[PRODUCT]]
func.func @on_tensors(%A: tensor<32x32xf16>, %B: tensor<32x48xf16>, %C: tensor<32x48xf16>) -> tensor<32x48xf16> {
  %0 = linalg.matmul ins(%A, %B : tensor<32x32xf16>, tensor<32x48xf16>)
                     outs(%C : tensor<32x48xf16>) -> tensor<32x48xf16>
  return %0 : tensor<32x48xf16>
}
