// narrow-accumulator: products of f16 with f16 results are added up in f16; a second run changes nothing.
// RUN: mlir-gemm opt %s narrow-accumulator | FileCheck %s
// RUN: mlir-gemm opt %s narrow-accumulator narrow-accumulator | FileCheck %s
// RUN: mlir-gemm compile %s --chip sm_80 --schedule precision=f16 --emit select -o - | FileCheck %s --check-prefix=SELECT

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>

// What only rounds the sum takes it as it is; other readers extend it.
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[SUM:.*]] = memref.alloc() : memref<32x48xf16>
//       CHECK:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
//       CHECK:   linalg.fill ins(%[[ZERO]] : f16) outs(%[[SUM]] : memref<32x48xf16>)
//       CHECK:   linalg.generic {{.*}} outs(%[[SUM]] : memref<32x48xf16>)
//  CHECK-NEXT:   ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f16):
//  CHECK-NEXT:     %[[TERM:.*]] = arith.mulf %[[A]], %[[B]] : f16
//  CHECK-NEXT:     %[[NEXT:.*]] = arith.addf %[[C]], %[[TERM]] : f16
//  CHECK-NEXT:     linalg.yield %[[NEXT]] : f16
//       CHECK:   linalg.generic {{.*}} ins(%[[SUM]] : memref<32x48xf16>)
//  CHECK-NEXT:   ^bb0(%[[ROUNDED:.*]]: f16, %{{.*}}: f16):
//  CHECK-NEXT:     linalg.yield %[[ROUNDED]] : f16
//       CHECK:   linalg.generic {{.*}} ins(%[[SUM]], %{{.*}} : memref<32x48xf16>, memref<48xf16>)
//  CHECK-NEXT:   ^bb0(%[[X:.*]]: f16, %[[BIAS:.*]]: f16, %{{.*}}: f16):
//  CHECK-NEXT:     %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
//  CHECK-NEXT:     %[[ADDEND:.*]] = arith.extf %[[BIAS]] : f16 to f32
//  CHECK-NEXT:     %[[Y:.*]] = arith.addf %[[WIDE]], %[[ADDEND]] : f32
//  CHECK-NEXT:     arith.truncf %[[Y]] : f32 to f16

// SELECT: func.func @product({{.*}}tile.problem = {{.*}} acc = "f16"
func.func @product(%a: memref<32x64xf16>, %b: memref<64x48xf16>, %bias: memref<48xf16>, %d: memref<32x48xf16>, %e: memref<32x48xf16>) {
  %sum = memref.alloc() : memref<32x48xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<32x48xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x64xf16>, memref<64x48xf16>) outs(%sum : memref<32x48xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %1 = arith.extf %x : f16 to f32
    %2 = arith.extf %y : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<32x48xf32>) outs(%d : memref<32x48xf16>) {
  ^bb0(%x: f32, %y: f16):
    %1 = arith.truncf %x : f32 to f16
    linalg.yield %1 : f16
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<32x48xf32>, memref<48xf16>) outs(%e : memref<32x48xf16>) {
  ^bb0(%x: f32, %y: f16, %z: f16):
    %1 = arith.extf %y : f16 to f32
    %2 = arith.addf %x, %1 : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  }
  return
}
