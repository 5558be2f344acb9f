// drop-empty: operations without elements go, and a sum of nothing is what it starts from; a second run changes nothing.
// RUN: mlir-gemm opt %s drop-empty | FileCheck %s
// RUN: mlir-gemm opt %s drop-empty drop-empty | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @no_k(
//  CHECK-SAME: %[[C:[a-z0-9]*]]: tensor<4x6xf32>)
//  CHECK-NEXT:   return %[[C]]
func.func @no_k(%A: tensor<4x0xf32>, %B: tensor<0x6xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %D = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x0xf32>, tensor<0x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %D : tensor<4x6xf32>
}

// What follows a sum of nothing is still computed.
// CHECK-LABEL: func.func @no_m(
//   CHECK-NOT:   linalg.
//       CHECK:   tensor.empty() : tensor<0x6xf32>
//       CHECK:   return %{{.*}} : tensor<0x6xf32>
func.func @no_m(%A: tensor<0x6xf32>) -> tensor<0x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %f : tensor<0x6xf32>, tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<0x6xf32>
  return %r : tensor<0x6xf32>
}

// CHECK-LABEL: func.func @sizes(
//       CHECK:   linalg.generic
func.func @sizes(%A: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
