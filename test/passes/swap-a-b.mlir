// swap-a-b: m and n change places; a second run undoes it.
// RUN: mlir-gemm opt %s swap-a-b | FileCheck %s
// RUN: mlir-gemm opt %s swap-a-b swap-a-b | FileCheck %s --check-prefix=BACK

// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[ACROSS:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// The temporary sums lie the other way round; what the caller sees stays where it is.
// CHECK-LABEL: func.func @few_rows(
//  CHECK-SAME: %[[A:.*]]: memref<8x64xf16>, %[[B:.*]]: memref<256x64xf16>, %[[BIAS:.*]]: memref<256xf32>, %[[D:.*]]: memref<8x256xf16>)
//       CHECK:   %[[SUMS:.*]] = memref.alloc() : memref<256x8xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[NK]], #[[MK]], #[[MN]]], {{.*}} ins(%[[A]], %[[B]] : {{.*}} outs(%[[SUMS]] :
//  CHECK-NEXT:   ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %{{.*}}: f32):
//       CHECK:     %[[LEFT:.*]] = arith.extf %[[X]]
//       CHECK:     %[[RIGHT:.*]] = arith.extf %[[Y]]
//  CHECK-NEXT:     arith.mulf %[[RIGHT]], %[[LEFT]]
//       CHECK:   linalg.generic {indexing_maps = [#[[SAME]], #[[ROW]], #[[ACROSS]]], {{.*}} ins(%[[SUMS]], %[[BIAS]] : {{.*}} outs(%[[D]] :

// BACK-LABEL: func.func @few_rows(
//       BACK:   memref.alloc() : memref<8x256xf32>
//       BACK:   %[[LEFT:.*]] = arith.extf
//       BACK:   %[[RIGHT:.*]] = arith.extf
//  BACK-NEXT:   arith.mulf %[[LEFT]], %[[RIGHT]]
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
func.func @few_rows(%A: memref<8x64xf16>, %B: memref<256x64xf16>, %bias: memref<256xf32>, %D: memref<8x256xf16>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x256xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<8x256xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x64xf16>, memref<256x64xf16>) outs(%sums : memref<8x256xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<8x256xf32>, memref<256xf32>) outs(%D : memref<8x256xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  }
  return
}

// No product: nothing changes.
// CHECK-LABEL: func.func @points(
//       CHECK:   linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]]],
func.func @points(%A: memref<8x64xf32>, %D: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<8x64xf32>) outs(%D : memref<8x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// A result that is written directly goes to a buffer first, which can change its shape; so does what it starts from.
// CHECK-LABEL: @direct
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<256x8xf32>
// CHECK: linalg.fill ins({{.*}}) outs(%[[SUM]] : memref<256x8xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] : memref<256x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : memref<256x8xf32>) outs(%{{.*}} : memref<8x256xf32>)
func.func @direct(%A: memref<8x64xf16>, %B: memref<64x256xf16>, %C: memref<8x256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<8x256xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x256xf16>) outs(%C : memref<8x256xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
