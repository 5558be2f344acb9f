// widen-accumulator: an f16 result is accumulated in f32 and rounded once; a second run changes nothing.
// RUN: mlir-gemm opt %s widen-accumulator | FileCheck %s
// RUN: mlir-gemm opt %s widen-accumulator widen-accumulator | FileCheck %s

// On memrefs the wide sum is a buffer of its own.
// CHECK-LABEL: func.func @on_memrefs(
//  CHECK-SAME: %[[A:.*]]: memref<32x32xf16>, %[[B:.*]]: memref<32x48xf16>, %[[C:.*]]: memref<32x48xf16>
//       CHECK:   %[[WIDE:.*]] = memref.alloc() : memref<32x48xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[C]] : memref<32x48xf16>) outs(%[[WIDE]] : memref<32x48xf32>)
//       CHECK:     arith.extf
//       CHECK:   linalg.matmul ins(%[[A]], %[[B]] : memref<32x32xf16>, memref<32x48xf16>) outs(%[[WIDE]] : memref<32x48xf32>)
//   CHECK-NOT:   linalg.matmul
//       CHECK:   linalg.generic {{.*}} ins(%[[WIDE]] : memref<32x48xf32>) outs(%[[C]] : memref<32x48xf16>)
//       CHECK:     arith.truncf
//       CHECK:   memref.dealloc %[[WIDE]]
//  CHECK-NEXT:   return
func.func @on_memrefs(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf16>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf16>)
  return
}

// CHECK-LABEL: func.func @on_tensors(
//  CHECK-SAME: %[[A:.*]]: tensor<32x32xf16>, %[[B:.*]]: tensor<32x48xf16>, %[[C:.*]]: tensor<32x48xf16>
//       CHECK:   %[[EMPTY:.*]] = tensor.empty() : tensor<32x48xf32>
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<32x48xf16>) outs(%[[EMPTY]] : tensor<32x48xf32>)
//       CHECK:   %[[SUM:.*]] = linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[START]] : tensor<32x48xf32>)
//       CHECK:   %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<32x48xf32>) outs(%[[C]] : tensor<32x48xf16>)
//       CHECK:   return %[[ROUNDED]] : tensor<32x48xf16>
func.func @on_tensors(%A: tensor<32x32xf16>, %B: tensor<32x48xf16>, %C: tensor<32x48xf16>) -> tensor<32x48xf16> {
  %0 = linalg.matmul ins(%A, %B : tensor<32x32xf16>, tensor<32x48xf16>)
                     outs(%C : tensor<32x48xf16>) -> tensor<32x48xf16>
  return %0 : tensor<32x48xf16>
}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A product in any form: a zero start is a zero of f32 directly.
// CHECK-LABEL: func.func @generic_product(
//       CHECK:   %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<4x6xf32>
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%[[ZERO]] : tensor<4x6xf32>)
//       CHECK:     arith.extf
//       CHECK:     arith.extf
//       CHECK:     arith.mulf {{.*}} : f32
//       CHECK:     arith.addf {{.*}} : f32
//       CHECK:   %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x6xf32>) outs({{.*}} : tensor<4x6xbf16>)
//       CHECK:     arith.truncf
//       CHECK:   return %[[ROUNDED]]
func.func @generic_product(%A: tensor<4x8xbf16>, %B: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %zero = arith.constant 0.0 : bf16
  %ce = tensor.empty() : tensor<4x6xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%ce : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%c : tensor<4x6xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<4x6xbf16>
  return %1 : tensor<4x6xbf16>
}

#whole = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// A sum along rows is added up in f32, and rounded once. A maximum is not: nothing is rounded there.
// CHECK-LABEL: func.func @along_rows(
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins({{.*}} : tensor<4x6xf16>) outs({{.*}} : tensor<4xf32>)
//       CHECK:     arith.extf {{.*}} : f16 to f32
//       CHECK:     arith.addf {{.*}} : f32
//       CHECK:   -> tensor<4xf32>
//       CHECK:   arith.truncf {{.*}} : f32 to f16
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins({{.*}} : tensor<4x6xf16>) outs({{.*}} : tensor<4xf16>)
//       CHECK:     arith.maximumf {{.*}} : f16
func.func @along_rows(%A: tensor<4x6xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf16>) outs(%z : tensor<4xf16>) {
  ^bb0(%x: f16, %a: f16):
    %r = arith.addf %x, %a : f16
    linalg.yield %r : f16
  } -> tensor<4xf16>
  %t = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf16>) outs(%z : tensor<4xf16>) {
  ^bb0(%x: f16, %a: f16):
    %r = arith.maximumf %x, %a : f16
    linalg.yield %r : f16
  } -> tensor<4xf16>
  return %s, %t : tensor<4xf16>, tensor<4xf16>
}
