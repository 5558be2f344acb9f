// separate-products has no options, and leaves alone a body with one product, and one whose sum is no sum of products.
// RUN: not mlir-gemm opt %s 'separate-products{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: mlir-gemm opt %s separate-products | FileCheck %s
// RUN: not mlir-gemm opt %s 'separate-products{together=f16:140}' 2>&1 | FileCheck %s --check-prefix=RATES

// OPTION: error: pass 'separate-products' has no option 'most' (options: together)
// RATES: error: pass 'separate-products{together=f16:140}': expected two rates of types, such as together=f16:140:230

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @one(
//       CHECK:   linalg.generic
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @one(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}

// The second product is of the first: nothing that could be added up by itself.
// CHECK-LABEL: func.func @nested(
//       CHECK:   linalg.generic
//       CHECK:     arith.maximumf
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @nested(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.maximumf %c, %m : f32
    %t = arith.mulf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}
