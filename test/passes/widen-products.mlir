// widen-products: 16-bit numbers that are added up in f32 are multiplied there; a second run changes nothing.
// RUN: mlir-gemm opt %s widen-products | FileCheck %s
// RUN: mlir-gemm opt %s widen-products widen-products | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @product(
//       CHECK: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f32):
//  CHECK-NEXT:   %[[X:.*]] = arith.extf %[[A]] : f16 to f32
//  CHECK-NEXT:   %[[Y:.*]] = arith.extf %[[B]] : f16 to f32
//  CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
//  CHECK-NEXT:   %[[S:.*]] = arith.addf %[[C]], %[[P]] : f32
//  CHECK-NEXT:   linalg.yield %[[S]]
func.func @product(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %p = arith.mulf %x, %y : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %z, %w : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
