// copy-diagonals: operands that are constant along diagonals are read from shifted copies of their vectors.
// RUN: mlir-gemm opt %s copy-diagonals | FileCheck %s
// RUN: mlir-gemm opt %s copy-diagonals copy-diagonals | FileCheck %s

#m = affine_map<(m, n, k) -> (m - k + 255)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

// 64 copies, each of k + 64 * 3 elements. The next 64 rows begin 64 elements before these.
// CHECK-LABEL: func.func @toeplitz(
//  CHECK-SAME:   %[[V:.*]]: tensor<511xf16>, %[[B:.*]]: tensor<256x24xf16>, %[[C:.*]]: tensor<256x24xf32>)
//       CHECK:   %[[COPIES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x448xf16>)
//       CHECK:     tensor.extract %[[V]]
//       CHECK:   %[[VIEW:.*]] = "tile.windows"(%[[COPIES]]) {{.*}}offset = 192 : i64, {{.*}}sizes = [array<i64: 4>, array<i64: 64>, array<i64: 256>],
//  CHECK-SAME:     strided, strides = [array<i64: -64>, array<i64: 448>, array<i64: 1>]} {{.*}} -> tensor<4x64x256xf16>
//       CHECK:   %[[START:.*]] = tensor.expand_shape %[[C]] {{.*}} into tensor<4x64x24xf32>
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[VIEW]], %[[B]] : {{.*}}) outs(%[[START]]
//       CHECK:   %[[D:.*]] = tensor.collapse_shape %[[P]] {{.*}} into tensor<256x24xf32>
//       CHECK:   return %[[D]]
func.func @toeplitz(%v: tensor<511xf16>, %B: tensor<256x24xf16>, %C: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %0 = linalg.generic {indexing_maps = [#m, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %B : tensor<511xf16>, tensor<256x24xf16>) outs(%C : tensor<256x24xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x24xf32>
  return %0 : tensor<256x24xf32>
}

#circulant = affine_map<(m, n, k) -> ((m - k) mod 256)>

// The copies go around: an index that is not negative, and its remainder.
// CHECK-LABEL: func.func @circulant(
//       CHECK:     arith.remsi
//       CHECK:     tensor.extract
//       CHECK:   "tile.windows"
func.func @circulant(%v: tensor<256xf32>, %B: tensor<256x24xf32>, %C: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %0 = linalg.generic {indexing_maps = [#circulant, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %B : tensor<256xf32>, tensor<256x24xf32>) outs(%C : tensor<256x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x24xf32>
  return %0 : tensor<256x24xf32>
}

#hankel = affine_map<(m, n, k) -> (m + k)>

// Copies of so few rows would be no smaller than the matrix.
// CHECK-LABEL: func.func @small(
//   CHECK-NOT:   tile.windows
//       CHECK:   return
func.func @small(%v: tensor<127xf32>, %B: tensor<64x24xf32>, %C: tensor<64x24xf32>) -> tensor<64x24xf32> {
  %0 = linalg.generic {indexing_maps = [#hankel, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %B : tensor<127xf32>, tensor<64x24xf32>) outs(%C : tensor<64x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x24xf32>
  return %0 : tensor<64x24xf32>
}
