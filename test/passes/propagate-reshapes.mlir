// propagate-reshapes: reshapes leave from between generics; a second run changes nothing.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' simplify-generics propagate-reshapes | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' simplify-generics propagate-reshapes propagate-reshapes | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// A linear layer on 3-D activations, as torch-mlir writes it: all of it runs over the three dimensions.
// CHECK-LABEL: func.func @linear(
//   CHECK-NOT:   tensor.collapse_shape
//       CHECK:   %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<2x4x6xf32>
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x4x8xf16>, tensor<8x6xf16>) outs(%[[ZERO]] : tensor<2x4x6xf32>)
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[D]], %arg2 : tensor<2x4x6xf32>, tensor<6xf32>)
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   return %[[E]] : tensor<2x4x6xf32>
func.func @linear(%x: tensor<2x4x8xf16>, %w: tensor<8x6xf16>, %b: tensor<6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x4x8xf16> into tensor<8x8xf16>
  %e = tensor.empty() : tensor<8x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%flat, %w : tensor<8x8xf16>, tensor<8x6xf16>) outs(%start : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<8x6xf32>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%a: f32, %bias: f32, %o: f32):
    %s = arith.addf %a, %bias : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  return %2 : tensor<2x4x6xf32>
}

// Dividing the columns of a result into heads divides those of the weight, by a view of the argument.
// CHECK-LABEL: func.func @heads(
//       CHECK:   %[[W:.*]] = tensor.expand_shape %arg1 {{\[\[}}0], [1, 2]] output_shape [8, 2, 3] : tensor<8x6xf16> into tensor<8x2x3xf16>
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %[[W]] : tensor<4x8xf16>, tensor<8x2x3xf16>) outs({{.*}} : tensor<4x2x3xf32>)
//       CHECK:   linalg.generic {{.*}} outs({{.*}} : tensor<2x4x3xf32>)
func.func @heads(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<2x4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>) outs(%start : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %t = tensor.empty() : tensor<2x4x3xf32>
  %2 = linalg.transpose ins(%1 : tensor<4x2x3xf32>) outs(%t : tensor<2x4x3xf32>) permutation = [1, 0, 2]
  return %2 : tensor<2x4x3xf32>
}

// A reduction over a flattened pair of dimensions is one over both.
// CHECK-LABEL: func.func @two_reductions(
//       CHECK:   linalg.generic {{.*}}, iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<4x2x5xf16>, tensor<2x5x6xf16>)
func.func @two_reductions(%a: tensor<4x2x5xf16>, %b: tensor<2x5x6xf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.collapse_shape %a [[0], [1, 2]] : tensor<4x2x5xf16> into tensor<4x10xf16>
  %1 = tensor.collapse_shape %b [[0, 1], [2]] : tensor<2x5x6xf16> into tensor<10x6xf16>
  %2 = linalg.matmul ins(%0, %1 : tensor<4x10xf16>, tensor<10x6xf16>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// Two divisions that fit into each other are both made: 24 = 4 * 6 = 2 * 12 is 2 * 2 * 6.
// CHECK-LABEL: func.func @both(
//       CHECK:   tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>
//       CHECK:   %[[N:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x2x6xf32>)
//       CHECK:   tensor.collapse_shape %[[N]] {{\[\[}}0], [1, 2]] : tensor<2x2x6xf32> into tensor<2x12xf32>
func.func @both(%a: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %1 = linalg.negf ins(%0 : tensor<24xf32>) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [2, 12] : tensor<24xf32> into tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}

// What reads at computed places follows those that read it: its positions are divided.
// CHECK-LABEL: func.func @places(
//       CHECK:   %[[AT:.*]] = "tile.position"() {{.*}} -> tensor<12xi64>
//       CHECK:   %[[DIVIDED:.*]] = tensor.expand_shape %[[AT]] {{.*}} into tensor<3x4xi64>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[DIVIDED]] : tensor<3x4xi64>) outs({{.*}} : tensor<3x4xf32>)
//       CHECK:     tensor.extract %arg0
//   CHECK-NOT:   tensor.expand_shape
//       CHECK:   linalg.generic {{.*}} ins(%[[R]], %arg1 : tensor<3x4xf32>, tensor<3x4xf32>)
#line = affine_map<(i) -> (i)>
func.func @places(%x: tensor<12xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %last = arith.constant 11 : i64
  %at = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<12xi64>
  %e = tensor.empty() : tensor<12xf32>
  %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%at : tensor<12xi64>)
      outs(%e : tensor<12xf32>) {
  ^bb0(%a: i64, %o: f32):
    %b = arith.subi %last, %a : i64
    %i = arith.index_cast %b : i64 to index
    %v = tensor.extract %x[%i] : tensor<12xf32>
    linalg.yield %v : f32
  } -> tensor<12xf32>
  %s = tensor.expand_shape %r [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  %e2 = tensor.empty() : tensor<3x4xf32>
  %t = linalg.add ins(%s, %y : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e2 : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %t : tensor<3x4xf32>
}
