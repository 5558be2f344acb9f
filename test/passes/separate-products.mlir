// separate-products: several products in one body; a second run changes nothing.
// RUN: mlir-gemm opt %s separate-products | FileCheck %s
// RUN: mlir-gemm opt %s separate-products separate-products | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Dual numbers in planes: three products of f16 into f32; the third starts from the second.
// CHECK-LABEL: func.func @dual(
//  CHECK-SAME:   %[[A0:[^:]*]]: tensor<8x8xf16>, %[[A1:[^:]*]]: tensor<8x8xf16>, %[[B0:[^:]*]]: tensor<8x8xf16>, %[[B1:[^:]*]]: tensor<8x8xf16>
//       CHECK:   %[[START:.*]] = linalg.fill
//       CHECK:   %[[VALUE:.*]] = linalg.generic {{.*}} ins(%[[A0]], %[[B0]] : {{.*}}) outs(%[[START]]
//       CHECK:   %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[A0]], %[[B1]] : {{.*}}) outs(%[[START]]
//       CHECK:     arith.extf
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//       CHECK:   %[[BOTH:.*]] = linalg.generic {{.*}} ins(%[[A1]], %[[B0]] : {{.*}}) outs(%[[ONE]]
//       CHECK:   return %[[VALUE]], %[[BOTH]]
func.func @dual(%A0: tensor<8x8xf16>, %A1: tensor<8x8xf16>, %B0: tensor<8x8xf16>, %B1: tensor<8x8xf16>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p:2 = linalg.generic {indexing_maps = [#mk, #mk, #kn, #kn, #mn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A0, %A1, %B0, %B1 : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>)
      outs(%f, %f : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%a0: f16, %a1: f16, %b0: f16, %b1: f16, %c0: f32, %c1: f32):
    %x0 = arith.extf %a0 : f16 to f32
    %x1 = arith.extf %a1 : f16 to f32
    %y0 = arith.extf %b0 : f16 to f32
    %y1 = arith.extf %b1 : f16 to f32
    %p0 = arith.mulf %x0, %y0 : f32
    %s0 = arith.addf %c0, %p0 : f32
    %p1 = arith.mulf %x0, %y1 : f32
    %p2 = arith.mulf %x1, %y0 : f32
    %p3 = arith.addf %p1, %p2 : f32
    %s1 = arith.addf %c1, %p3 : f32
    linalg.yield %s0, %s1 : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %p#0, %p#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A product that is subtracted follows: its sum is taken from what there is, rounded once.
// CHECK-LABEL: func.func @difference(
//       CHECK:   %[[FIRST:.*]] = linalg.generic {{.*}} ins(%arg0, %arg2 : {{.*}}) outs({{.*}} : tensor<8x8xf32>)
//       CHECK:   %[[SECOND:.*]] = linalg.generic {{.*}} ins(%arg1, %arg3 : {{.*}}) outs({{.*}} : tensor<8x8xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]]
//       CHECK:     arith.subf
//       CHECK:   arith.truncf
func.func @difference(%A0: tensor<8x8xf16>, %A1: tensor<8x8xf16>, %B0: tensor<8x8xf16>, %B1: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8x8xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<8x8xf16>) -> tensor<8x8xf16>
  %p = linalg.generic {indexing_maps = [#mk, #mk, #kn, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A0, %A1, %B0, %B1 : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>)
      outs(%f : tensor<8x8xf16>) {
  ^bb0(%a0: f16, %a1: f16, %b0: f16, %b1: f16, %c: f16):
    %p0 = arith.mulf %a0, %b0 : f16
    %p1 = arith.mulf %a1, %b1 : f16
    %d = arith.subf %p0, %p1 : f16
    %s = arith.addf %c, %d : f16
    linalg.yield %s : f16
  } -> tensor<8x8xf16>
  return %p : tensor<8x8xf16>
}

// Two products over one body, with arithmetic in front of one of them: an operation for each.
// CHECK-LABEL: func.func @two(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 :
//   CHECK-NOT:   math.exp
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg2 :
//       CHECK:     math.exp
func.func @two(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>, %C: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p:2 = linalg.generic {indexing_maps = [#mk, #kn, #kn, #mn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B, %C : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) outs(%f, %f : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o0: f32, %o1: f32):
    %p0 = arith.mulf %a, %b : f32
    %s0 = arith.addf %o0, %p0 : f32
    %x = math.exp %c : f32
    %p1 = arith.mulf %a, %x : f32
    %s1 = arith.addf %o1, %p1 : f32
    linalg.yield %s0, %s1 : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %p#0, %p#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// What is no product stays whole: a sum and a sum of squares along rows.
// CHECK-LABEL: func.func @moments(
//       CHECK:   linalg.generic {{.*}} outs({{.*}} : tensor<8xf32>, tensor<8xf32>)
func.func @moments(%A: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %p:2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<8x8xf32>) outs(%f, %f : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %c0: f32, %c1: f32):
    %s0 = arith.addf %c0, %a : f32
    %p = arith.mulf %a, %a : f32
    %s1 = arith.addf %c1, %p : f32
    linalg.yield %s0, %s1 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %p#0, %p#1 : tensor<8xf32>, tensor<8xf32>
}

// A sum by math.fma is one of a product.
// CHECK-LABEL: func.func @fused(
//       CHECK:   linalg.generic
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
//  CHECK-NEXT:     %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
//  CHECK-NEXT:     %[[S:.*]] = arith.addf %[[P]], %[[C]] : f32
//  CHECK-NEXT:     linalg.yield %[[S]] : f32
func.func @fused(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%z : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = math.fma %a, %b, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
