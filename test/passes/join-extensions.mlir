// join-extensions: 8-bit floats are multiplied as they are; a second run changes nothing.
// RUN: mlir-gemm opt %s extend-operands join-extensions | FileCheck %s
// RUN: mlir-gemm opt %s extend-operands join-extensions join-extensions | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @product(
//       CHECK:   ^bb0(%[[A:.*]]: f8E4M3FN, %[[B:.*]]: f8E5M2, %[[C:.*]]: f32):
//  CHECK-NEXT:     %[[LEFT:.*]] = arith.extf %[[A]] : f8E4M3FN to f32
//  CHECK-NEXT:     %[[RIGHT:.*]] = arith.extf %[[B]] : f8E5M2 to f32
//  CHECK-NEXT:     arith.mulf %[[LEFT]], %[[RIGHT]] : f32
func.func @product(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E5M2>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf8E4M3FN>, tensor<8x6xf8E5M2>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2, %z: f32):
    %1 = arith.extf %x : f8E4M3FN to f32
    %2 = arith.extf %y : f8E5M2 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// A half that is used for more stays.
// CHECK-LABEL: func.func @used(
//       CHECK:   ^bb0(%[[X:.*]]: f8E4M3FN, %{{.*}}: f32, %{{.*}}: f16):
//  CHECK-NEXT:     %[[HALF:.*]] = arith.extf %[[X]] : f8E4M3FN to f16
//  CHECK-NEXT:     %[[WIDE:.*]] = arith.extf %[[X]] : f8E4M3FN to f32
//  CHECK-NEXT:     %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
//  CHECK-NEXT:     linalg.yield %[[SQUARE]], %[[HALF]]
func.func @used(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>, %c: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf8E4M3FN>) outs(%b, %c : tensor<4xf32>, tensor<4xf16>) {
  ^bb0(%x: f8E4M3FN, %y: f32, %z: f16):
    %1 = arith.extf %x : f8E4M3FN to f16
    %2 = arith.extf %1 : f16 to f32
    %3 = arith.mulf %2, %2 : f32
    linalg.yield %3, %1 : f32, f16
  } -> (tensor<4xf32>, tensor<4xf16>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf16>
}

// Nothing multiplies an 8-bit float and a half as they are.
// CHECK-LABEL: func.func @mixed(
//       CHECK:   ^bb0(%[[X:.*]]: f8E4M3FN, %{{.*}}: f16, %{{.*}}: f32):
//  CHECK-NEXT:     %[[HALF:.*]] = arith.extf %[[X]] : f8E4M3FN to f16
//  CHECK-NEXT:     arith.extf %[[HALF]] : f16 to f32
func.func @mixed(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf16>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<4xf8E4M3FN>, tensor<4xf16>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f16, %z: f32):
    %1 = arith.extf %x : f8E4M3FN to f16
    %2 = arith.extf %1 : f16 to f32
    %3 = arith.extf %y : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
