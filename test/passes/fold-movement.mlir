// fold-movement: transposes and broadcasts go into the maps around them; a second run changes nothing.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' simplify-generics fold-movement | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' simplify-generics fold-movement fold-movement | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[NM:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @transposed_weight(
//       CHECK:   linalg.generic {indexing_maps = [#[[MK]], #[[NK]], #[[MN]]], {{.*}} ins(%arg0, %arg1 : tensor<4x8xf16>, tensor<6x8xf16>)
func.func @transposed_weight(%x: tensor<4x8xf16>, %w: tensor<6x8xf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<8x6xf16>
  %t = linalg.transpose ins(%w : tensor<6x8xf16>) outs(%e : tensor<8x6xf16>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// A result returned transposed is a product with a permuted output.
// CHECK-LABEL: func.func @transposed_result(
//       CHECK:   %[[D:.*]] = linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[NM]]], {{.*}} outs({{.*}} : tensor<6x4xf32>)
//       CHECK:   return %[[D]]
func.func @transposed_result(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>) outs(%start : tensor<4x6xf32>) -> tensor<4x6xf32>
  %et = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%0 : tensor<4x6xf32>) outs(%et : tensor<6x4xf32>) permutation = [1, 0]
  return %t : tensor<6x4xf32>
}

// So is one whose elementwise reader is returned transposed: the reader writes and reads in order.
// CHECK-LABEL: func.func @transposed_epilogue(
//       CHECK:   %[[D:.*]] = linalg.generic {indexing_maps = [#[[MK]], #[[KN]], #[[NM]]], {{.*}} outs({{.*}} : tensor<6x4xf32>)
//       CHECK:   %[[E:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%[[D]] : tensor<6x4xf32>)
//       CHECK:   return %[[E]]
func.func @transposed_epilogue(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>) outs(%start : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.exp ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %et = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%1 : tensor<4x6xf32>) outs(%et : tensor<6x4xf32>) permutation = [1, 0]
  return %t : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @broadcast_bias(
//       CHECK:   linalg.generic {indexing_maps = [#[[ID]], #[[COLUMN]], #[[ID]]], {{.*}} ins(%arg0, %arg1 : tensor<4x6xf32>, tensor<6xf32>)
func.func @broadcast_bias(%x: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %wide = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : tensor<4x6xf32>) dimensions = [0]
  %0 = linalg.add ins(%x, %wide : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
