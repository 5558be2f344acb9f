// separate-products: dual numbers in planes as one product of what is put together in front, and taken apart after it;
// where three products are faster, these.
// RUN: mlir-gemm opt %s 'separate-products{together=f16:140:230}' | FileCheck %s
// RUN: mlir-gemm opt %s 'separate-products{together=f16:140:230}' separate-products | FileCheck %s
// RUN: mlir-gemm opt %s 'separate-products{together=f64:15:15}' | FileCheck %s --check-prefix=APART

// APART-COUNT-3: arith.mulf

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @dual(
//       CHECK:   %[[A:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs({{.*}} : tensor<8x8x2xf16>)
//       CHECK:   %[[B:.*]] = linalg.generic {{.*}} ins(%arg2, %arg3 : {{.*}}) outs({{.*}} : tensor<8x2x8x2xf16>)
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}}"reduction", "parallel", "reduction"]} ins(%[[A]], %[[B]] : {{.*}}) outs({{.*}} : tensor<8x8x2xf32>)
//       CHECK:   %[[VALUE:.*]] = tensor.extract_slice %[[D]][0, 0, 0] [8, 8, 1] [1, 1, 1]
//       CHECK:   %[[SLOPE:.*]] = tensor.extract_slice %[[D]][0, 0, 1] [8, 8, 1] [1, 1, 1]
//   CHECK-NOT:   linalg.generic
//       CHECK:   return %[[VALUE]], %[[SLOPE]]
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

// A plane that something else computes with is not between others.
// CHECK-LABEL: func.func @used(
//   CHECK-NOT:   8x8x2x
//       CHECK:   linalg.add
func.func @used(%A0: tensor<8x8xf16>, %A1: tensor<8x8xf16>, %B0: tensor<8x8xf16>, %B1: tensor<8x8xf16>)
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
  %q = linalg.add ins(%p#0, %p#0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %q, %p#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
