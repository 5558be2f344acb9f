// find-sparse: sparse operands of one product are left as they are, as are functions without any.
// RUN: mlir-gemm opt %s find-sparse | FileCheck %s
// RUN: mlir-gemm opt %s find-sparse find-sparse | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#d = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   memref<64x128xf16> {tile.sparse = "2:4"}
//       CHECK:   linalg.generic
//       CHECK:   return
func.func @product(%A: memref<64x128xf16> {tile.sparse = "2:4"}, %B: memref<128x32xf16>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf16>, memref<128x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %t = arith.mulf %x, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @other(
func.func @other(%A: memref<64x128xf16>) {
  return
}
