// clamp-sums-last: a sum that saturates is a sum, and a minimum after it. A second run changes nothing.
// RUN: mlir-gemm opt %s clamp-sums-last | FileCheck %s
// RUN: mlir-gemm opt %s clamp-sums-last clamp-sums-last | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @saturating(
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]}
//       CHECK:     %[[S:.*]] = arith.addi
//       CHECK:     linalg.yield %[[S]] : i32
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[SUM]] : tensor<8x8xi32>)
//       CHECK:     %[[LIMIT:.*]] = arith.constant 255 : i32
//       CHECK:     %[[LEAST:.*]] = arith.minui %{{.*}}, %[[LIMIT]] : i32
//       CHECK:     linalg.yield %[[LEAST]] : i32
//       CHECK:   return %[[D]]
func.func @saturating(%A: tensor<8x64xi8>, %B: tensor<64x8xi8>) -> tensor<8x8xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x8xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<8x8xi32>) -> tensor<8x8xi32>
  %d = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<8x64xi8>, tensor<64x8xi8>) outs(%i : tensor<8x8xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %limit = arith.constant 255 : i32
    %x = arith.extui %a : i8 to i32
    %y = arith.extui %b : i8 to i32
    %t = arith.muli %x, %y : i32
    %s = arith.addi %c, %t : i32
    %m = arith.minui %s, %limit : i32
    linalg.yield %m : i32
  } -> tensor<8x8xi32>
  return %d : tensor<8x8xi32>
}
