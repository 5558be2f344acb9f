// extend-operands: 8-bit floats become f16 on their way to a product; a second run changes nothing.
// RUN: mlir-gemm opt %s extend-operands | FileCheck %s
// RUN: mlir-gemm opt %s extend-operands extend-operands | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @product(
//       CHECK:   ^bb0(%[[A:.*]]: f8E4M3FN, %[[B:.*]]: f16, %[[C:.*]]: f32):
//  CHECK-NEXT:     %[[HALF:.*]] = arith.extf %[[A]] : f8E4M3FN to f16
//  CHECK-NEXT:     %[[LEFT:.*]] = arith.extf %[[HALF]] : f16 to f32
//  CHECK-NEXT:     %[[RIGHT:.*]] = arith.extf %[[B]] : f16 to f32
//  CHECK-NEXT:     arith.mulf %[[LEFT]], %[[RIGHT]] : f32
func.func @product(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf8E4M3FN>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f16, %z: f32):
    %1 = arith.extf %x : f8E4M3FN to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
