// distribute-copies: of windows of an image each thread computes where its pieces lie; zeros around the image are none.
// RUN: mlir-gemm opt %s distribute-copies cse canonicalize | FileCheck %s

gpu.module @kernels {
// One piece of 8 channels for each of 128 threads. A row is 4 places of every second pixel, 6 rows, an image; a column a
// channel, 3 pixels, 3 rows. What is below 0 is a large number.
// CHECK-LABEL: gpu.func @padded(
//   CHECK-DAG:   %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<8xf16>
//   CHECK-DAG:   %[[BEFORE:.*]] = arith.constant -1 : index
//       CHECK:   %[[Y:.*]] = arith.addi %{{.*}}, %[[BEFORE]] : index
//       CHECK:   %[[ROW:.*]] = arith.cmpi ult, %[[Y]], %c6 : index
//       CHECK:   %[[X:.*]] = arith.addi %{{.*}}, %[[BEFORE]] : index
//       CHECK:   %[[COLUMN:.*]] = arith.cmpi ult, %[[X]], %c8 : index
//       CHECK:   %[[INSIDE:.*]] = arith.andi %[[ROW]], %[[COLUMN]] : i1
//       CHECK:   %[[V:.*]] = scf.if %[[INSIDE]] -> (vector<8xf16>) {
//       CHECK:     %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [6144], strides: [1]
//       CHECK:     vector.load %[[FLAT]][%{{.*}}] {alignment = 16 : i64}
//       CHECK:   } else {
//  CHECK-NEXT:     scf.yield %[[ZEROS]]
//       CHECK:   vector.store %[[V]], %{{.*}} {alignment = 16 : i64}
//   CHECK-NOT:   vector.load
//       CHECK:   gpu.return
gpu.func @padded(%image: memref<2x6x8x64xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m = arith.muli %i, %c16 : index
  %k = arith.muli %j, %c64 : index
  %w = "tile.windows"(%image) {high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, offset = 0 : i64, shape = array<i64: 2, 6, 8, 64>, sizes = [array<i64: 2, 6, 4>, array<i64: 3, 192>], strides = [array<i64: 5120, 640, 128>, array<i64: 640, 1>]} : (memref<2x6x8x64xf16>) -> memref<48x576xf16>
  %a = memref.alloc() : memref<16x64xf16, 3>
  "tile.copy"(%a, %w, %m, %k) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x64xf16, 3>, memref<48x576xf16>, index, index) -> ()
  gpu.return
}

// Pieces of 4 channels are vectors of 8 bytes: rows of the window are 12 elements. There are no zeros to leave out, but
// the last columns are beyond the end.
// CHECK-LABEL: gpu.func @narrow(
//       CHECK:   %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c36 : index
//       CHECK:   scf.if %[[INSIDE]] -> (vector<4xf16>) {
//       CHECK:     vector.load %{{.*}}[%{{.*}}] {alignment = 8 : i64}
//       CHECK:   gpu.return
gpu.func @narrow(%image: memref<2x9x9x4xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c16 = arith.constant 16 : index
  %m = arith.muli %i, %c16 : index
  %k = arith.muli %j, %c16 : index
  %w = "tile.windows"(%image) {high = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, offset = 0 : i64, shape = array<i64: 2, 9, 9, 4>, sizes = [array<i64: 2, 4, 4>, array<i64: 3, 12>], strides = [array<i64: 324, 72, 8>, array<i64: 36, 1>]} : (memref<2x9x9x4xf16>) -> memref<32x36xf16>
  %a = memref.alloc() : memref<32x16xf16, 3>
  "tile.copy"(%a, %w, %m, %k) {in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x16xf16, 3>, memref<32x36xf16>, index, index) -> ()
  gpu.return
}
}
