// emulate-products: a product of f32 becomes one of the parts of its elements, side by side along k.
// RUN: mlir-gemm opt %s emulate-products | FileCheck %s
// RUN: mlir-gemm opt %s emulate-products emulate-products | FileCheck %s
// RUN: mlir-gemm opt %s 'emulate-products{precision=6xbf16}' | FileCheck %s --check-prefix=BF16
// RUN: mlir-gemm opt %s 'emulate-products{precision=ozaki}' | FileCheck %s --check-prefix=OTHER

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Three products of tf32: A has lo, hi, hi along the new dimension, B hi, lo, hi; k comes last. The kernel is to know of
// it: `precision` stays.
//       CHECK: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
//       CHECK: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
//       CHECK: func.func @product({{.*}} attributes {tile.schedule = {precision = "3xtf32", stages = 3 : i64}}
//       CHECK:   %[[LEFT:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<3xi64>) outs(%{{.*}} : tensor<4x3x8xf32>)
// The nearest tf32, and what is nearest to the rest.
//       CHECK:     %[[BITS:.*]] = arith.bitcast %[[X:.*]] : f32 to i32
//       CHECK:     arith.constant 4096
//       CHECK:     arith.constant -8192
//       CHECK:     %[[HI:.*]] = arith.bitcast %{{.*}} : i32 to f32
//       CHECK:     arith.subf %[[X]], %[[HI]] : f32
//       CHECK:   %[[RIGHT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6x3x8xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#[[A]], #[[B]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
//  CHECK-SAME:       ins(%[[LEFT]], %[[RIGHT]] : {{.*}}) {{.*}} attrs = {tile.emulated = "3xtf32"}

// Six products of bf16 are added up in f32; operands keep the order that they have.
//       BF16: ins(%[[A:.*]], %[[B:.*]] : tensor<4x6x8xbf16>, tensor<6x8x6xbf16>)
//  BF16-SAME:   attrs = {tile.emulated = "6xbf16"}
//       BF16:   arith.extf
//       BF16:   arith.mulf {{.*}} : f32

//       OTHER: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x6xf32>)
//   OTHER-NOT: tile.emulated
func.func @product(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>) -> tensor<4x6xf32>
    attributes {tile.schedule = {precision = "3xtf32", stages = 3}} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}
