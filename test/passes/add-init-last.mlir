// add-init-last: a computed start is added after the product; a second run changes nothing.
// RUN: mlir-gemm opt %s add-init-last | FileCheck %s
// RUN: mlir-gemm opt %s add-init-last add-init-last | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @broadcast_bias(
//       CHECK:   %[[BIAS:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<6xf32>)
//       CHECK:   %[[ZERO:.*]] = linalg.fill
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[ZERO]] : tensor<4x6xf32>)
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[BIAS]] : tensor<4x6xf32>, tensor<4x6xf32>)
//       CHECK:     arith.addf
//       CHECK:   return %[[R]]
func.func @broadcast_bias(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%0 : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
