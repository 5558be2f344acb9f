// copy-diagonals: what is no such product is left to unfold-windows.
// RUN: mlir-gemm opt %s copy-diagonals | FileCheck %s

#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>
#double = affine_map<(m, n, k) -> (m + k * 2)>

// Neighbours in k are no neighbours in the vector.
// CHECK-LABEL: func.func @steps(
//   CHECK-NOT:   tile.windows
func.func @steps(%v: tensor<766xf32>, %B: tensor<256x24xf32>, %C: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %0 = linalg.generic {indexing_maps = [#double, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %B : tensor<766xf32>, tensor<256x24xf32>) outs(%C : tensor<256x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x24xf32>
  return %0 : tensor<256x24xf32>
}

#hankel = affine_map<(m, n, k) -> (m + k)>

// A minimum of sums is no product of numbers, which is filled with zeros beyond the end of k.
// CHECK-LABEL: func.func @minimum(
//   CHECK-NOT:   tile.windows
func.func @minimum(%v: tensor<511xf32>, %B: tensor<256x24xf32>, %C: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %0 = linalg.generic {indexing_maps = [#hankel, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %B : tensor<511xf32>, tensor<256x24xf32>) outs(%C : tensor<256x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.addf %a, %b : f32
    %s = arith.minimumf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x24xf32>
  return %0 : tensor<256x24xf32>
}
