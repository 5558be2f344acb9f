// create-tensor-maps: windows of an image get a map in mode im2col; a copy says what its indices count through.
// RUN: mlir-gemm opt %s create-tensor-maps | FileCheck %s
// RUN: mlir-gemm opt %s create-tensor-maps create-tensor-maps | FileCheck %s

// 2 images of 6x4 places, 2 pixels apart along a row; a window of 3x3 pixels of 64 channels, from one pixel of zeros on.
// CHECK-LABEL: func.func @windows(
//       CHECK:   %[[W:.*]] = "tile.windows"(%arg0)
//       CHECK:   %[[MAP:.*]] = "tile.tensor_map"(%[[W]]) {box = array<i64: 64, 64>, swizzle = "128"}
//   CHECK-NOT:   tile.tensor_map
//       CHECK:   "tile.tma_load"(%{{.*}}, %[[MAP]], {{.*}}) {corner = array<i64: -1, -1>,
//  CHECK-SAME:     pixels = [array<i64: 0, 2, 1>, array<i64: 1, 6, 1>, array<i64: 2, 4, 2>],
//  CHECK-SAME:     window = [array<i64: 1, 3, 1>, array<i64: 2, 3, 1>, array<i64: 3, 64, 1>]}
func.func @windows(%image: memref<2x6x8x64xf16>) {
  %w = "tile.windows"(%image) {high = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, offset = 0 : i64, shape = array<i64: 2, 6, 8, 64>, sizes = [array<i64: 2, 6, 4>, array<i64: 3, 192>], strides = [array<i64: 5120, 640, 128>, array<i64: 640, 1>]} : (memref<2x6x8x64xf16>) -> memref<48x576xf16>
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %a = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.tma_load"(%a, %w, %bars, %z, %block, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<48x576xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
