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

// A minimum of sums starts from infinity, and takes the start in last, by a minimum too.
// CHECK-LABEL: func.func @minimum_of_sums(
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<4x6xf16>)
//       CHECK:   %[[INFINITY:.*]] = arith.constant 0x7F800000 : f32
//       CHECK:   %[[NOTHING:.*]] = linalg.fill ins(%[[INFINITY]] : f32)
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} outs(%[[NOTHING]] : tensor<4x6xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %[[START]] : tensor<4x6xf32>, tensor<4x6xf32>)
//       CHECK:     arith.minimumf
func.func @minimum_of_sums(%A: tensor<4x8xf32>, %B: tensor<8x6xf32>, %C: tensor<4x6xf16>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%C : tensor<4x6xf16>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf32>, tensor<8x6xf32>) outs(%0 : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.addf %x, %y : f32
    %s = arith.minimumf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
