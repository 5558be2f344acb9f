// unfold-windows: windows, padding and pieces are read by position.
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' unfold-windows | FileCheck %s
// RUN: mlir-gemm opt %s 'func.func(linalg-generalize-named-ops)' unfold-windows unfold-windows | FileCheck %s

// Channels second: the image is laid out once with its channels last and the zeros around it, and seen by windows there.
// The weights are laid out so that their channels are last too.
// CHECK-LABEL: func.func @convolution(
//  CHECK-SAME:   %[[X:.*]]: tensor<1x4x8x8xf32>, %[[W:.*]]: tensor<6x4x3x3xf32>
//   CHECK-NOT:   tensor.pad
//       CHECK:   %[[IMAGE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x10x10x4xf32>)
//       CHECK:     %[[V:.*]] = tensor.extract %[[X]]
//       CHECK:     arith.select %{{.*}}, %[[V]], %{{.*}} : f32
//       CHECK:   %[[WINDOWS:.*]] = "tile.windows"(%[[IMAGE]])
//  CHECK-SAME:     strides = [array<i64: 400>, array<i64: 80>, array<i64: 8>, array<i64: 1>, array<i64: 40>, array<i64: 4>]}
//  CHECK-SAME:     (tensor<1x10x10x4xf32>) -> tensor<1x4x4x4x3x3xf32>
//       CHECK:   %[[WEIGHTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6x3x3x4xf32>)
//       CHECK:     tensor.extract %[[W]]
//       CHECK:   linalg.generic {indexing_maps = [#[[WIN:.*]], #[[FIL:.*]], #[[OUT:.*]]], {{.*}} ins(%[[WINDOWS]], %[[WEIGHTS]]
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

// Channels last: a product sees the image by windows where it lies, the zeros around it too. Strides are those of an
// image of 8x10 pixels.
// CHECK-LABEL: func.func @in_place(
//  CHECK-SAME:   %[[X:.*]]: tensor<2x6x8x16xf16>, %[[W:.*]]: tensor<5x3x3x16xf16>
//   CHECK-NOT:   tensor.pad
//   CHECK-NOT:   tensor.extract
//       CHECK:   %[[WINDOWS:.*]] = "tile.windows"(%[[X]]) {high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, offset = 0 : i64, shape = array<i64: 2, 6, 8, 16>,
//  CHECK-SAME:     sizes = [array<i64: 2>, array<i64: 6>, array<i64: 4>, array<i64: 3>, array<i64: 3>, array<i64: 16>],
//  CHECK-SAME:     strides = [array<i64: 1280>, array<i64: 160>, array<i64: 32>, array<i64: 160>, array<i64: 16>, array<i64: 1>]}
//  CHECK-SAME:     (tensor<2x6x8x16xf16>) -> tensor<2x6x4x3x3x16xf16>
//       CHECK:   linalg.generic {{.*}} ins(%[[WINDOWS]], %[[W]]
func.func @in_place(%x: tensor<2x6x8x16xf16>, %w: tensor<5x3x3x16xf16>, %o: tensor<2x6x4x5xf16>) -> tensor<2x6x4x5xf16> {
  %z = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<2x6x8x16xf16> to tensor<2x8x10x16xf16>
  %0 = linalg.conv_2d_nhwc_fhwc {strides = dense<[1, 2]> : vector<2xi64>}
      ins(%p, %w : tensor<2x8x10x16xf16>, tensor<5x3x3x16xf16>) outs(%o : tensor<2x6x4x5xf16>) -> tensor<2x6x4x5xf16>
  return %0 : tensor<2x6x4x5xf16>
}

// Weights whose channels are not innermost are laid out anew.
// CHECK-LABEL: func.func @weights(
//       CHECK:   "tile.windows"
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3x3x16xf16>)
//       CHECK:     tensor.extract
func.func @weights(%x: tensor<2x6x8x16xf16>, %w: tensor<5x16x3x3xf16>, %o: tensor<2x4x6x5xf16>) -> tensor<2x4x6x5xf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, c, i, j) -> (n, h + i, w + j, c)>,
      affine_map<(n, h, w, f, c, i, j) -> (f, c, i, j)>, affine_map<(n, h, w, f, c, i, j) -> (n, h, w, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x6x8x16xf16>, tensor<5x16x3x3xf16>) outs(%o : tensor<2x4x6x5xf16>) {
  ^bb0(%a: f16, %b: f16, %s: f16):
    %p = arith.mulf %a, %b : f16
    %t = arith.addf %s, %p : f16
    linalg.yield %t : f16
  } -> tensor<2x4x6x5xf16>
  return %0 : tensor<2x4x6x5xf16>
}

// Three channels of two bytes are laid out as four, the fourth of zeros, and so are the weights'.
// CHECK-LABEL: func.func @narrow(
//  CHECK-SAME:   %[[X:.*]]: tensor<2x6x8x3xf16>, %[[W:.*]]: tensor<5x3x3x3xf16>
//       CHECK:   %[[IMAGE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x8x4xf16>)
//       CHECK:     %[[IN:.*]] = arith.cmpi slt
//       CHECK:     %[[V:.*]] = tensor.extract %[[X]]
//       CHECK:     arith.select %[[IN]], %[[V]], %{{.*}} : f16
//       CHECK:   %[[WINDOWS:.*]] = "tile.windows"(%[[IMAGE]])
//  CHECK-SAME:     -> tensor<2x4x6x3x3x4xf16>
//       CHECK:   %[[WEIGHTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<5x3x3x4xf16>)
//       CHECK:     tensor.extract %[[W]]
//       CHECK:   linalg.generic {{.*}} ins(%[[WINDOWS]], %[[WEIGHTS]]
func.func @narrow(%x: tensor<2x6x8x3xf16>, %w: tensor<5x3x3x3xf16>, %o: tensor<2x4x6x5xf16>) -> tensor<2x4x6x5xf16> {
  %0 = linalg.conv_2d_nhwc_fhwc ins(%x, %w : tensor<2x6x8x3xf16>, tensor<5x3x3x3xf16>)
      outs(%o : tensor<2x4x6x5xf16>) -> tensor<2x4x6x5xf16>
  return %0 : tensor<2x4x6x5xf16>
}

// Rows of a window that are whole vectors where they lie need no more channels: four pixels of three.
// CHECK-LABEL: func.func @patches(
//  CHECK-SAME:   %[[X:.*]]: tensor<2x8x8x3xf16>
//   CHECK-NOT:   tensor.extract
//       CHECK:   "tile.windows"(%[[X]])
//   CHECK-NOT:   tensor.extract
func.func @patches(%x: tensor<2x8x8x3xf16>, %w: tensor<5x4x4x3xf16>, %o: tensor<2x2x2x5xf16>) -> tensor<2x2x2x5xf16> {
  %0 = linalg.conv_2d_nhwc_fhwc {strides = dense<4> : vector<2xi64>}
      ins(%x, %w : tensor<2x8x8x3xf16>, tensor<5x4x4x3xf16>) outs(%o : tensor<2x2x2x5xf16>) -> tensor<2x2x2x5xf16>
  return %0 : tensor<2x2x2x5xf16>
}

// Groups are a batch: windows of a part of each pixel's channels, under the reshape that takes channels apart.
// CHECK-LABEL: func.func @groups(
//  CHECK-SAME:   %[[X:.*]]: tensor<2x6x8x16xf16>
//       CHECK:   "tile.windows"(%[[X]]) {high = array<i64: 0, 1, 1, 0, 0>, {{.*}} shape = array<i64: 2, 6, 8, 2, 8>,
//  CHECK-SAME:     (tensor<2x6x8x16xf16>) -> tensor<2x6x8x2x3x3x8xf16>
//   CHECK-NOT:   tensor.extract
func.func @groups(%x: tensor<2x6x8x16xf16>, %w: tensor<2x8x3x3x8xf16>, %o: tensor<2x6x8x2x8xf16>) -> tensor<2x6x8x2x8xf16> {
  %z = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<2x6x8x16xf16> to tensor<2x8x10x16xf16>
  %e = tensor.expand_shape %p [[0], [1], [2], [3, 4]] output_shape [2, 8, 10, 2, 8]
      : tensor<2x8x10x16xf16> into tensor<2x8x10x2x8xf16>
  %0 = linalg.conv_2d_nhwgc_gfhwc ins(%e, %w : tensor<2x8x10x2x8xf16>, tensor<2x8x3x3x8xf16>)
      outs(%o : tensor<2x6x8x2x8xf16>) -> tensor<2x6x8x2x8xf16>
  return %0 : tensor<2x6x8x2x8xf16>
}

// Depthwise: each element adds up its window by itself, in f32, in the order of the result's transpose.
// CHECK-LABEL: func.func @depthwise(
//  CHECK-SAME:   %[[X:.*]]: tensor<2x8x4x5xf16>, %[[W:.*]]: tensor<8x1x2xf16>, %[[B:.*]]: tensor<8xf16>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%[[B]] : tensor<8xf16>) outs(%{{.*}} : tensor<2x4x4x8xf16>)
//  CHECK-NEXT:   ^bb0(%[[START:.*]]: f16,
//       CHECK:     %[[T0:.*]] = arith.extf %[[START]]
// CHECK-COUNT-2:   math.fma {{.*}} : f32
//       CHECK:     arith.truncf
//       CHECK:     linalg.yield
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @depthwise(%x: tensor<2x8x4x5xf16>, %w: tensor<8x1x2xf16>, %b: tensor<8xf16>) -> tensor<2x4x4x8xf16> {
  %e = tensor.empty() : tensor<2x8x4x4xf16>
  %f = linalg.broadcast ins(%b : tensor<8xf16>) outs(%e : tensor<2x8x4x4xf16>) dimensions = [0, 2, 3]
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<2x8x4x5xf16>, tensor<8x1x2xf16>)
      outs(%f : tensor<2x8x4x4xf16>) -> tensor<2x8x4x4xf16>
  %t = tensor.empty() : tensor<2x4x4x8xf16>
  %1 = linalg.transpose ins(%0 : tensor<2x8x4x4xf16>) outs(%t : tensor<2x4x4x8xf16>) permutation = [0, 2, 3, 1]
  return %1 : tensor<2x4x4x8xf16>
}

// A window of 129 elements that nothing shares is too much to write out: its windows are copied.
// CHECK-LABEL: func.func @long(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4x8x129xf16>)
//       CHECK:     tensor.extract
func.func @long(%x: tensor<2x132x8xf16>, %w: tensor<129x8xf16>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  %0 = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<2x132x8xf16>, tensor<129x8xf16>)
      outs(%o : tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return %0 : tensor<2x4x8xf16>
}
