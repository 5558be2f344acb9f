// multiply-remainders: a product of f64 becomes products of 8-bit integers, one for each modulus.
// RUN: mlir-gemm opt %s 'multiply-remainders{precision=ozaki}' | FileCheck %s
// RUN: mlir-gemm opt %s multiply-remainders | FileCheck %s --check-prefix=OFF

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @product(
// 1. The largest magnitude of each row of A, and of each column of B, and the power of two below it.
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<4x8xf64>) outs(%{{.*}} : tensor<4xf64>)
//       CHECK:     math.absf
//       CHECK:     arith.maximumf
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<8x6xf64>) outs(%{{.*}} : tensor<6xf64>)
// 2. The remainders of the integers to which elements are scaled; k is the last dimension of both.
//       CHECK:   %[[LEFT:.*]]:14 = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf64>, tensor<4xf64>)
//       CHECK:     math.roundeven
//       CHECK:     arith.trunci %{{.*}} : i64 to i32
//       CHECK:   %[[RIGHT:.*]]:14 = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x6xf64>, tensor<6xf64>)
// 3. A product of integers for each modulus, reduced to a remainder by an estimate of its quotient.
//       CHECK:   linalg.generic {{.*}} ins(%[[LEFT]]#0, %[[RIGHT]]#0 : tensor<4x8xi8>, tensor<6x8xi8>) outs(%{{.*}} : tensor<4x6xi32>)
//       CHECK:     arith.muli
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}} : tensor<4x6xi32>) outs(%{{.*}} : tensor<4x6xi8>)
//       CHECK:     arith.constant 255 : i32
//       CHECK:   linalg.generic {{.*}} ins(%[[LEFT]]#1, %[[RIGHT]]#1 : tensor<4x8xi8>, tensor<6x8xi8>)
//       CHECK:     arith.constant 253 : i32
//       CHECK:   linalg.generic {{.*}} ins(%[[LEFT]]#13, %[[RIGHT]]#13 : tensor<4x8xi8>, tensor<6x8xi8>)
// 4. The number that has these remainders.
//       CHECK:   %[[RESULT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x6xf64>)
//       CHECK:   return %[[RESULT]]

//         OFF: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf64>, tensor<8x6xf64>)
//     OFF-NOT: i8
func.func @product(%A: tensor<4x8xf64>, %B: tensor<8x6xf64>) -> tensor<4x6xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x6xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<4x6xf64>) -> tensor<4x6xf64>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf64>, tensor<8x6xf64>) outs(%f : tensor<4x6xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  return %p : tensor<4x6xf64>
}
