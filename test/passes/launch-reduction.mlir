// launch-reduction: a warp for each sum of products; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'launch-reduction{ahead=2}' | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'launch-reduction{ahead=2}' 'launch-reduction{ahead=2}' | FileCheck %s

// Three sums, a block of three warps. A lane has two vectors of each operand in flight.
// CHECK-LABEL: func.func @parts(
//   CHECK-NOT:   linalg
//       CHECK:   gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c1, {{.*}}) threads(%[[THREAD:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c96,
//       CHECK:     %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
//       CHECK:     %[[SUM:.*]] = arith.addi %{{.*}}, %[[WARP]] overflow<nsw, nuw> : index
//       CHECK:     %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
//       CHECK:     %[[MINE:.*]] = arith.muli %[[LANE]], %c8
//       CHECK:     scf.for %[[AT:.*]] = %c0{{.*}} to %c4096 step %c512 iter_args(
//       CHECK:       %[[K:.*]] = arith.addi %[[AT]], %[[MINE]]
//  CHECK-NEXT:       vector.load %arg0[%{{.*}}, %[[SUM]], %[[K]]] {alignment = 16 : i64}
//       CHECK:       vector.load %arg1[%{{.*}}, %[[SUM]], %[[K]]] {alignment = 16 : i64}
//       CHECK:       arith.addi %[[K]], %c256
//       CHECK:       vector.fma
//       CHECK:       vector.fma
//       CHECK:     arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
//  CHECK-COUNT-5: gpu.shuffle xor
//       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
//  CHECK-NEXT:     scf.if %[[FIRST]] {
//  CHECK-NEXT:       memref.store %{{.*}}, %arg2[%[[SUM]], %{{.*}}, %{{.*}}]
//       CHECK:     gpu.terminator
func.func @parts(%a: memref<1x3x4096xf16, strided<[12288, 4096, 1]>>, %b: memref<1x3x4096xf16, strided<[12288, 4096, 1]>>, %d: memref<3x1x1xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<3x1x1xf32>)
  linalg.generic {indexing_maps = [affine_map<(p, m, n, k) -> (m, p, k)>, affine_map<(p, m, n, k) -> (n, p, k)>, affine_map<(p, m, n, k) -> (p, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<1x3x4096xf16, strided<[12288, 4096, 1]>>, memref<1x3x4096xf16, strided<[12288, 4096, 1]>>) outs(%d : memref<3x1x1xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %w = arith.mulf %u, %v : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// 200 elements are a whole vector of all lanes and a part of a second, which the last lanes do not have; 10 sums are
// two blocks of four warps and a half.
// CHECK-LABEL: func.func @ragged(
//       CHECK:   gpu.launch {{.*}} in (%{{.*}} = %c3, {{.*}} in (%{{.*}} = %c128,
//       CHECK:     %[[KNOWN:.*]] = arith.cmpi ult, %{{.*}}, %c10
//  CHECK-NEXT:     scf.if %[[KNOWN]] {
//   CHECK-NOT:       scf.for
// CHECK-COUNT-2:       vector.load {{.*}} vector<4xf32>
//       CHECK:       %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %c72
//  CHECK-NEXT:       scf.if %[[HAS]] -> (vector<4xf32>) {
// CHECK-COUNT-2:         vector.load {{.*}} vector<4xf32>
//       CHECK:       } else {
//  CHECK-COUNT-5: gpu.shuffle xor
func.func @ragged(%a: memref<10x200xf32>, %b: memref<200xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<10xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<10x200xf32>, memref<200xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %w = arith.mulf %x, %y : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}
