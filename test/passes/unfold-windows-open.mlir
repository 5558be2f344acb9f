// unfold-windows: of images whose number is known at run time only, windows are seen in place; of other open sizes copied.
// RUN: mlir-gemm opt --split-input-file %s name-sizes unfold-windows | FileCheck %s

// CHECK: tile.stand_ins = {s0 = [[N:[0-9]+]] : i64}
// CHECK: func.func @conv(%[[X:.*]]: tensor<[[N]]x6x8x16xf16>
// CHECK: "tile.windows"(%[[X]]) {high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, offset = 0 : i64, shape = array<i64: [[N]], 6, 8, 16>
func.func @conv(%x: tensor<?x6x8x16xf16>, %w: tensor<5x3x3x16xf16>, %o: tensor<?x6x8x5xf16>) -> tensor<?x6x8x5xf16> {
  %z = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<?x6x8x16xf16> to tensor<?x8x10x16xf16>
  %0 = linalg.conv_2d_nhwc_fhwc
      ins(%p, %w : tensor<?x8x10x16xf16>, tensor<5x3x3x16xf16>) outs(%o : tensor<?x6x8x5xf16>) -> tensor<?x6x8x5xf16>
  return %0 : tensor<?x6x8x5xf16>
}

// -----

// CHECK: tile.stand_ins
// CHECK: func.func @channels(
// CHECK-NOT: tile.windows
// CHECK: tensor.extract
func.func @channels(%x: tensor<2x6x8x?xf16>, %w: tensor<5x3x3x?xf16>, %o: tensor<2x6x8x5xf16>) -> tensor<2x6x8x5xf16> {
  %z = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<2x6x8x?xf16> to tensor<2x8x10x?xf16>
  %0 = linalg.conv_2d_nhwc_fhwc
      ins(%p, %w : tensor<2x8x10x?xf16>, tensor<5x3x3x?xf16>) outs(%o : tensor<2x6x8x5xf16>) -> tensor<2x6x8x5xf16>
  return %0 : tensor<2x6x8x5xf16>
}

// -----

// A depthwise convolution of any number of images adds up each window at once.
// CHECK: tile.stand_ins = {s0 = [[N:[0-9]+]] : i64}
// CHECK: func.func @depthwise(%[[X:.*]]: tensor<[[N]]x6x8x16xf32>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-COUNT-9: math.fma
// CHECK-NOT: linalg.generic
func.func @depthwise(%x: tensor<?x6x8x16xf32>, %w: tensor<3x3x16xf32>, %o: tensor<?x4x6x16xf32>) -> tensor<?x4x6x16xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc
      ins(%x, %w : tensor<?x6x8x16xf32>, tensor<3x3x16xf32>) outs(%o : tensor<?x4x6x16xf32>) -> tensor<?x4x6x16xf32>
  return %0 : tensor<?x4x6x16xf32>
}

// -----

// The parts of a transpose would start at open places: they are taken before it, the first one too. Of an argument that
// lies like this the second part is a view where its place is an aligned address for all sizes, else it is copied.
// CHECK: tile.stand_ins = {s0 = [[B:[0-9]+]] : i64, s1 = [[C:[0-9]+]] : i64, s2 = [[D:[0-9]+]] : i64}
// CHECK: func.func @parts(%[[X:.*]]: tensor<[[B]]x3x8xf32>, %[[Y:.*]]: tensor<3x[[C]]x8xf32>, %[[Z:.*]]: tensor<3x[[D]]x3xf32>
// CHECK-DAG: %[[FIRST:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [[[B]], 1, 8] [1, 1, 1]
// CHECK-DAG: %[[LAST:.*]] = tensor.extract_slice %[[X]][0, 2, 0] [[[B]], 1, 8] [1, 1, 1]
// CHECK-DAG: linalg.generic {{.*}} ins(%[[FIRST]] : tensor<[[B]]x1x8xf32>) outs(%{{.*}} : tensor<1x[[B]]x8xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%[[LAST]] : tensor<[[B]]x1x8xf32>) outs(%{{.*}} : tensor<1x[[B]]x8xf32>)
// CHECK-DAG: tensor.extract_slice %[[Y]][1, 0, 0] [1, [[C]], 8] [1, 1, 1]
// CHECK: tensor.extract %[[Z]][
func.func @parts(%x: tensor<?x3x8xf32>, %y: tensor<3x?x8xf32>, %z: tensor<3x?x3xf32>)
    -> (tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x3xf32>) {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %e = tensor.empty(%b) : tensor<3x?x8xf32>
  %t = linalg.transpose ins(%x : tensor<?x3x8xf32>) outs(%e : tensor<3x?x8xf32>) permutation = [1, 0, 2]
  %0 = tensor.extract_slice %t[0, 0, 0] [1, %b, 8] [1, 1, 1] : tensor<3x?x8xf32> to tensor<1x?x8xf32>
  %1 = tensor.extract_slice %t[2, 0, 0] [1, %b, 8] [1, 1, 1] : tensor<3x?x8xf32> to tensor<1x?x8xf32>
  %c1 = arith.constant 1 : index
  %c = tensor.dim %y, %c1 : tensor<3x?x8xf32>
  %2 = tensor.extract_slice %y[1, 0, 0] [1, %c, 8] [1, 1, 1] : tensor<3x?x8xf32> to tensor<1x?x8xf32>
  %d = tensor.dim %z, %c1 : tensor<3x?x3xf32>
  %3 = tensor.extract_slice %z[1, 0, 0] [1, %d, 3] [1, 1, 1] : tensor<3x?x3xf32> to tensor<1x?x3xf32>
  return %0, %1, %2, %3 : tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x3xf32>
}
