// copy-operands: what cannot be read where it lies; a second run changes nothing.
// RUN: mlir-gemm opt %s copy-operands | FileCheck %s
// RUN: mlir-gemm opt %s copy-operands copy-operands | FileCheck %s

// The k dimensions of A lie as [i, j], those of B as [j, i]: the smaller one, B, is laid out as [n, i, j]. Its conversion
// goes into the copy, the exact extension stays with the product.
// CHECK-LABEL: func.func @two_orders(
//  CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<64x4x5xf16>, %[[B:[a-z0-9]*]]: tensor<5x4x8xf32>)
//       CHECK:   tensor.empty() : tensor<8x4x5xf16>
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}}"parallel", "parallel", "parallel"]} ins(%[[B]] :
//  CHECK-SAME:     tile.note = "operand B of a product is laid out anew: its 2 dimensions that are summed over
//       CHECK:     arith.truncf
//       CHECK:   linalg.generic
//  CHECK-SAME:     ins(%[[A]], %[[COPY]] : tensor<64x4x5xf16>, tensor<8x4x5xf16>)
//  CHECK-NEXT:   ^bb0(%[[L:.*]]: f16, %[[R:.*]]: f16, %{{.*}}: f32):
//   CHECK-DAG:     arith.extf %[[L]] : f16 to f32
//   CHECK-DAG:     arith.extf %[[R]] : f16 to f32
//       CHECK:     arith.mulf
func.func @two_orders(%A: tensor<64x4x5xf16>, %B: tensor<5x4x8xf32>) -> tensor<64x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, i, j) -> (m, i, j)>, affine_map<(m, n, i, j) -> (j, i, n)>,
                                        affine_map<(m, n, i, j) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%A, %B : tensor<64x4x5xf16>, tensor<5x4x8xf32>) outs(%f : tensor<64x8xf32>) {
  ^bb0(%a: f16, %b: f32, %c: f32):
    %h = arith.truncf %b : f32 to f16
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %h : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// The same order in both: nothing to copy.
// CHECK-LABEL: func.func @one_order(
//   CHECK-NOT:   tile.note
//       CHECK:   return
func.func @one_order(%A: tensor<64x4x5xf16>, %B: tensor<4x5x8xf16>) -> tensor<64x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, i, j) -> (m, i, j)>, affine_map<(m, n, i, j) -> (i, j, n)>,
                                        affine_map<(m, n, i, j) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%A, %B : tensor<64x4x5xf16>, tensor<4x5x8xf16>) outs(%f : tensor<64x8xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// Rows with gaps between them are no row of their own.
// CHECK-LABEL: func.func @gaps(
//       CHECK:   %[[T:.*]] = bufferization.to_tensor
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[T]] :
//  CHECK-SAME:     tile.note = "tensor.collapse_shape of elements that do not follow one another evenly: they are copied"
//       CHECK:   tensor.collapse_shape %[[COPY]]
func.func @gaps(%A: memref<4x6xf32, strided<[8, 1]>>) -> tensor<24xf32> {
  %t = bufferization.to_tensor %A restrict writable : memref<4x6xf32, strided<[8, 1]>> to tensor<4x6xf32>
  %v = tensor.collapse_shape %t [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %v : tensor<24xf32>
}
