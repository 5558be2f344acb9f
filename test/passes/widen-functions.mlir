// widen-functions: a GELU of f16 is computed in f32 and rounded once; a second run changes nothing.
// RUN: mlir-gemm opt %s widen-functions | FileCheck %s
// RUN: mlir-gemm opt %s widen-functions widen-functions | FileCheck %s

#map = affine_map<(m) -> (m)>

// CHECK-LABEL: func.func @gelu(
//       CHECK: ^bb0(%[[X:.*]]: f16, %{{.*}}: f16):
//  CHECK-NEXT:   %[[W:.*]] = arith.extf %[[X]] : f16 to f32
//  CHECK-NEXT:   %[[ROOT:.*]] = arith.constant 0.70703125 : f32
//  CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[W]], %[[ROOT]] : f32
//  CHECK-NEXT:   %[[E:.*]] = math.erf %[[P]] : f32
//       CHECK:   %[[S:.*]] = arith.addf %[[E]], %{{.*}} : f32
//       CHECK:   %[[R:.*]] = arith.mulf %[[W]], %[[S]] : f32
//  CHECK-NEXT:   %[[T:.*]] = arith.truncf %[[R]] : f32 to f16
//  CHECK-NEXT:   linalg.yield %[[T]] : f16
func.func @gelu(%x: tensor<8xf16>) -> tensor<8xf16> {
  %root = arith.constant 0.70703125 : f16
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<8xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf16>) outs(%e : tensor<8xf16>) {
  ^bb0(%v: f16, %o: f16):
    %p = arith.mulf %v, %root : f16
    %f = math.erf %p : f16
    %s = arith.addf %f, %one : f16
    %r = arith.mulf %v, %s : f16
    linalg.yield %r : f16
  } -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// What is compared, or converted, is rounded before; what is extended anyway is not.
// CHECK-LABEL: func.func @mixed(
//       CHECK:   %[[E:.*]] = math.exp %{{.*}} : f32
//       CHECK:   %[[S:.*]] = arith.addf %[[E]], %{{.*}} : f32
//  CHECK-NEXT:   %[[T:.*]] = arith.truncf %[[S]] : f32 to bf16
//  CHECK-NEXT:   arith.cmpf ogt, %[[T]], %{{.*}} : bf16
//   CHECK-NOT:   arith.extf %[[T]]
//       CHECK:   arith.select %{{.*}}, %[[S]], %{{.*}} : f32
func.func @mixed(%x: tensor<8xbf16>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<8xbf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %zero = arith.constant 0.0 : f32
    %f = math.exp %v : bf16
    %s = arith.addf %f, %v : bf16
    %c = arith.cmpf ogt, %s, %v : bf16
    %w = arith.extf %s : bf16 to f32
    %r = arith.select %c, %w, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
