// extend-operands leaves alone what is no product, and other types.
// RUN: mlir-gemm opt %s extend-operands | FileCheck %s
// RUN: not mlir-gemm opt %s 'extend-operands{to=f32}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'extend-operands' has no option 'to'

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(m) -> (m)>

// CHECK-LABEL: func.func @no_product(
//       CHECK:   arith.extf %{{.*}} : f8E5M2 to f32
//  CHECK-NEXT:   linalg.yield
func.func @no_product(%a: tensor<4xf8E5M2>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf8E5M2>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f8E5M2, %z: f32):
    %1 = arith.extf %x : f8E5M2 to f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @other_types(
//       CHECK:   ^bb0
//  CHECK-NEXT:   arith.extf %{{.*}} : f8E5M2 to bf16
//  CHECK-NEXT:   arith.extf %{{.*}} : bf16 to f32
//  CHECK-NEXT:   arith.extf %{{.*}} : f16 to f32
func.func @other_types(%a: tensor<4x8xf8E5M2>, %b: tensor<8x6xf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf8E5M2>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f8E5M2, %y: f16, %z: f32):
    %0 = arith.extf %x : f8E5M2 to bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
