// normalise-kernels: the loops of a convolution become one m and one k, though the image is stepped through unevenly.
// RUN: mlir-gemm opt %s normalise-kernels | FileCheck %s
// RUN: mlir-gemm opt %s normalise-kernels normalise-kernels | FileCheck %s

// CHECK-LABEL: func.func @convolution(
//  CHECK-SAME:   %[[X:.*]]: memref<2x6x8x16xf16>, %[[W:.*]]: memref<96x5xf16>, %[[C:.*]]: memref<48x5xf32>
//       CHECK:   %[[WINDOWS:.*]] = "tile.windows"(%[[X]])
//  CHECK-SAME:     sizes = [array<i64: 2, 4, 6>, array<i64: 2, 48>], strides = [array<i64: 768, 128, 16>, array<i64: 256, 1>]
//  CHECK-SAME:     (memref<2x6x8x16xf16>) -> memref<48x96xf16>
//       CHECK:   linalg.generic {{.*}} ins(%[[WINDOWS]], %[[W]] : memref<48x96xf16>, memref<96x5xf16>)
module {
  module @convolution {
    func.func @convolution(%x: memref<2x6x8x16xf16>, %w: memref<2x3x16x5xf16>, %o: memref<2x4x6x5xf32>) {
      %v = "tile.windows"(%x) {high = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, offset = 0 : i64,
        shape = array<i64: 2, 6, 8, 16>, sizes = [array<i64: 2>, array<i64: 4>, array<i64: 6>, array<i64: 2>, array<i64: 3>, array<i64: 16>],
        strides = [array<i64: 768>, array<i64: 128>, array<i64: 16>, array<i64: 256>, array<i64: 16>, array<i64: 1>]}
        : (memref<2x6x8x16xf16>) -> memref<2x4x6x2x3x16xf16>
      linalg.generic {indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h, w, i, j, c)>,
          affine_map<(n, h, w, f, i, j, c) -> (i, j, c, f)>, affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%v, %w : memref<2x4x6x2x3x16xf16>, memref<2x3x16x5xf16>) outs(%o : memref<2x4x6x5xf32>) {
      ^bb0(%a: f16, %b: f16, %s: f32):
        %d = arith.extf %a : f16 to f32
        %e = arith.extf %b : f16 to f32
        %p = arith.mulf %d, %e : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      }
      return
    }
  }
}
