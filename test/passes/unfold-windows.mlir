// unfold-windows: windows, padding and pieces are read by position.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' unfold-windows | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' unfold-windows unfold-windows | FileCheck %s

// A convolution of a padded image: its windows are copied once, and it reads them with a dimension for each loop.
// CHECK-LABEL: func.func @convolution(
//  CHECK-SAME:   %[[X:.*]]: tensor<1x4x8x8xf32>, %[[W:.*]]: tensor<6x4x3x3xf32>
//   CHECK-NOT:   tensor.pad
//       CHECK:   %[[WINDOWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x4x4x3x3xf32>)
//       CHECK:     arith.muli
//       CHECK:     %[[V:.*]] = tensor.extract %[[X]]
//       CHECK:     arith.select %{{.*}}, %[[V]], %{{.*}} : f32
//       CHECK:   linalg.generic {indexing_maps = [#[[WIN:.*]], #[[FIL:.*]], #[[OUT:.*]]], {{.*}} ins(%[[WINDOWS]], %[[W]]
//       CHECK:     arith.mulf
func.func @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %o: tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %v: index):
    tensor.yield %zero : f32
  } : tensor<1x4x8x8xf32> to tensor<1x4x10x10xf32>
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>}
         ins(%padded, %w : tensor<1x4x10x10xf32>, tensor<6x4x3x3xf32>) outs(%o : tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  return %0 : tensor<1x6x4x4xf32>
}

// CHECK-LABEL: func.func @pieces(
//  CHECK-SAME:   %[[A:.*]]: tensor<6x9xf32>, %[[B:.*]]: tensor<6x4xf32>
//   CHECK-NOT:   tensor.concat
//       CHECK:   linalg.generic
//       CHECK:     tensor.extract %[[A]]
//       CHECK:     tensor.extract %[[B]]
//       CHECK:     arith.cmpi sge
//       CHECK:     arith.select
func.func @pieces(%a: tensor<6x9xf32>, %b: tensor<6x4xf32>) -> tensor<6x13xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<6x9xf32>, tensor<6x4xf32>) -> tensor<6x13xf32>
  return %0 : tensor<6x13xf32>
}

// A row that is written where a number says.
// CHECK-LABEL: func.func @cache(
//   CHECK-NOT:   insert_slice
//       CHECK:   %[[P:.*]] = arith.index_cast
//       CHECK:   linalg.generic
//       CHECK:     arith.select
//       CHECK:   return
func.func @cache(%c: tensor<9x16xf32>, %r: tensor<1x16xf32>, %at: tensor<i64>) -> tensor<9x16xf32> {
  %n = tensor.extract %at[] : tensor<i64>
  %p = arith.index_cast %n : i64 to index
  %0 = tensor.insert_slice %r into %c[%p, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}
