// recompute-row-parts: a factor for each part of a row is computed where it is used; a second run changes nothing.
// RUN: mlir-gemm opt %s recompute-row-parts | FileCheck %s
// RUN: mlir-gemm opt %s recompute-row-parts recompute-row-parts | FileCheck %s
// RUN: mlir-gemm opt %s recompute-row-parts group-kernels group-rows | FileCheck %s --check-prefix=ONE

#e = affine_map<(i, c, j) -> (i, c, j)>
#r = affine_map<(i, c, j) -> (i)>
#part = affine_map<(i, c, j) -> (i, c)>
#p = affine_map<(i, c) -> (i, c)>
#pr = affine_map<(i, c) -> (i)>
#pw = affine_map<(i, c) -> (c)>

// The factor of a channel is 1/sqrt(sum) of its group times its weight, and two read it.
// CHECK-LABEL: func.func @groups(
//  CHECK-SAME:   %[[X:.*]]: tensor<32x4x60xf32>, %[[W:.*]]: tensor<4xf32>)
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}}"reduction", "reduction"]} ins(%[[X]] :
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[SUM]], %[[W]] : tensor<32x4x60xf32>, tensor<32xf32>, tensor<4xf32>)
//       CHECK:     math.rsqrt
//       CHECK:     arith.mulf
//       CHECK:     arith.mulf
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[SUM]], %[[W]] : tensor<32x4x60xf32>, tensor<32xf32>, tensor<4xf32>)
//       CHECK:     math.rsqrt
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic

// All of it is one kernel then.
// ONE-LABEL: func.func @groups(
// ONE-COUNT-3: tile.kernel = 0
// ONE-NOT: tile.kernel = 1
func.func @groups(%x: tensor<32x4x60xf32>, %w: tensor<4xf32>) -> (tensor<32x4x60xf32>, tensor<32x4x60xf32>) {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%re : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x4x60xf32>) outs(%start : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %pe = tensor.empty() : tensor<32x4xf32>
  %f = linalg.generic {indexing_maps = [#pr, #pw, #p], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %w : tensor<32xf32>, tensor<4xf32>) outs(%pe : tensor<32x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = math.rsqrt %a : f32
    %t = arith.mulf %i, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4xf32>
  %ye = tensor.empty() : tensor<32x4x60xf32>
  %y = linalg.generic {indexing_maps = [#e, #part, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %f : tensor<32x4x60xf32>, tensor<32x4xf32>) outs(%ye : tensor<32x4x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4x60xf32>
  %z = linalg.generic {indexing_maps = [#e, #part, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %f : tensor<32x4x60xf32>, tensor<32x4xf32>) outs(%ye : tensor<32x4x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4x60xf32>
  return %y, %z : tensor<32x4x60xf32>, tensor<32x4x60xf32>
}
