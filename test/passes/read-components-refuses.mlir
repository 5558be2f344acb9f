// read-components: a mark on what no kernel lays out.
// RUN: not mlir-gemm opt %s read-components 2>&1 | FileCheck %s

// CHECK: argument 1 with 'tile.laid_out', which no kernel lays out of elements with components
func.func @product(%A: memref<64x128xf32>, %B: memref<128x32xf32> {tile.laid_out = "2 kn"}, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf32>, memref<128x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}
