// lower-mbarrier-pipeline: a copy of windows names its first pixel and channel, and how far within the window it is.
// RUN: mlir-gemm opt %s lower-mbarrier-pipeline cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s lower-mbarrier-pipeline lower-mbarrier-pipeline cse canonicalize | FileCheck %s

gpu.module @kernels {
// The box begins at the channel, the pixel, the row and the image of the first place, shifted by the corner.
// CHECK-LABEL: gpu.func @load(
//  CHECK-SAME:   %[[MAP:.*]]: !llvm.ptr, %{{.*}}: index, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index
//       CHECK:   %[[PLACE:.*]] = arith.remui %[[ROW]], %c4 : index
//       CHECK:   %[[PIXEL:.*]] = arith.muli %[[PLACE]], %c2
//       CHECK:   %[[N:.*]] = arith.divui %[[ROW]], %c24 : index
//       CHECK:   %[[X:.*]] = arith.addi %[[PIXEL]], %c-1 : index
//       CHECK:   %[[Y:.*]] = arith.addi %{{.*}}, %c-1 : index
//       CHECK:   %[[C:.*]] = arith.remui %[[COLUMN]], %c64 : index
//   CHECK-DAG:   %[[C32:.*]] = arith.index_cast %[[C]] : index to i32
//   CHECK-DAG:   %[[X32:.*]] = arith.index_cast %[[X]] : index to i32
//   CHECK-DAG:   %[[Y32:.*]] = arith.index_cast %[[Y]] : index to i32
//   CHECK-DAG:   %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
//       CHECK:   %[[RIGHT:.*]] = arith.trunci %{{.*}} : i32 to i16
//       CHECK:   %[[DOWN:.*]] = arith.trunci %{{.*}} : i32 to i16
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[C32]], %[[X32]], %[[Y32]], %[[N32]]] im2col[%[[RIGHT]], %[[DOWN]]]
//   CHECK-NOT:   nvvm.cp.async.bulk.tensor
gpu.func @load(%map: !llvm.ptr, %slot: index, %row: index, %column: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %bars = memref.alloc() : memref<2x1xi64, 3>
  "tile.tma_load"(%a, %map, %bars, %slot, %row, %column) {corner = array<i64: -1, -1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>, pixels = [array<i64: 0, 2, 1>, array<i64: 1, 6, 1>, array<i64: 2, 4, 2>], window = [array<i64: 1, 3, 1>, array<i64: 2, 3, 1>, array<i64: 3, 64, 1>]} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
  gpu.return
}
}
