// compress-operand: a sparse A is staged as its values and metadata; a second run changes nothing.
// RUN: mlir-gemm opt %s compress-operand --reading | FileCheck %s
// RUN: mlir-gemm opt %s compress-operand compress-operand --reading | FileCheck %s

#down = affine_map<(d0) -> (d0 * 128)>
#along = affine_map<(d0) -> (d0 * 64)>

// Of 256 x 128 elements half are values, and the metadata is for 16 rows in a row.
// CHECK-LABEL: func.func @product(%arg0: memref<18432xf16>, %arg1:
//       CHECK:   %[[VALUES:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [256, 64], strides: [64, 1]
//       CHECK:   %[[META:.*]] = memref.reinterpret_cast %arg0 to offset: [16384], sizes: [16, 128], strides: [128, 1]
//       CHECK:   affine.for %[[M:.*]] = 0 to 2 {  // block
//       CHECK:     %[[A:.*]] = memref.alloc() : shared 128x32xf16 swizzle64
//       CHECK:     %[[E:.*]] = memref.alloc() : shared 8x64xf16 swizzle128
//       CHECK:     %[[B:.*]] = memref.alloc() : shared 64x64xf16 swizzle128
//       CHECK:       %[[ROW:.*]] = %[[M]] * 128
//       CHECK:       %[[K:.*]] = {{.*}} * 64
//       CHECK:       %[[HALF:.*]] = %[[K]] floordiv 2
//       CHECK:       tile.copy %[[VALUES]][%[[ROW]], %[[HALF]]] -> %[[A]] : 128x32xf16 {in_bounds}
//       CHECK:       %[[SIXTEENTH:.*]] = %[[ROW]] floordiv 16
//       CHECK:       tile.copy %[[META]][%[[SIXTEENTH]], %[[K]]] -> %[[E]] : 8x64xf16 {in_bounds}
//       CHECK:       tile.copy %arg1
//       CHECK:       %[[WHOLE:.*]] = tile.sparse %[[A]], %[[E]]
//       CHECK:       tile.mma %[[WHOLE]][mk], %[[B]][kn]
func.func @product(%A: memref<256x128xf16> {tile.sparse = "2:4"}, %B: memref<128x64xf16>, %D: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    %a = memref.alloc() {tile.layout = "swizzle128"} : memref<128x64xf16, 3>
    %b = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    affine.for %k = 0 to 2 {
      %m = affine.apply #down(%i)
      %depth = affine.apply #along(%k)
      "tile.copy"(%a, %A, %m, %depth) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<128x64xf16, 3>, memref<256x128xf16>, index, index) -> ()
      "tile.copy"(%b, %B, %depth, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<64x64xf16, 3>, memref<128x64xf16>, index, index) -> ()
      %c = "tile.load"(%D, %m, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 2>} : (memref<256x64xf32>, index, index) -> vector<128x64xf32>
      %d = "tile.mma"(%a, %b, %c) {a = "mk", b = "kn"} : (memref<128x64xf16, 3>, memref<64x64xf16, 3>, vector<128x64xf32>) -> vector<128x64xf32>
      "tile.store"(%d, %D, %m, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<128x64xf32>, memref<256x64xf32>, index, index) -> ()
    } {tile.loop = "k"}
  } {tile.loop = "block"}
  return
}
