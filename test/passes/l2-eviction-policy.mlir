// l2-eviction-policy: copies into the buffers of one operand say how many of 32 boxes L2 keeps; a second run changes nothing.
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5}' --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5}' 'l2-eviction-policy{a=5}' --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5 b=0}' --reading | FileCheck %s --check-prefix=BOTH
// RUN: mlir-gemm opt %s l2-eviction-policy --reading | FileCheck %s --check-prefix=NONE

// Parts of a stage, which a cluster copies together, belong to its operand too; a copy of what nobody multiplies to none.
// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   %[[V:.*]] = arith.constant dense<0.000000e+00> : vector<128x128xf32>
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 4x128x64xf16 swizzle128
//  CHECK-NEXT:   %[[BUFFER2:.*]] = memref.alloc() : shared 4x64x128xf16 swizzle128
//  CHECK-NEXT:   %[[BUFFER3:.*]] = memref.alloc() : shared 64x64xf16 swizzle128
//  CHECK-NEXT:   %[[BUFFER4:.*]] = memref.alloc() : shared 2x4xi64 barriers
//  CHECK-NEXT:   %[[VIEW:.*]] = %[[BUFFER]][0] : 128x64xf16
//  CHECK-NEXT:   %[[VIEW2:.*]] = %[[VIEW]][64] : 64x64xf16
//  CHECK-NEXT:   %[[VIEW3:.*]] = %[[BUFFER2]][0] : 64x128xf16
//  CHECK-NEXT:   tile.tma_load %arg0[0, 0] -> %[[VIEW]], %[[BUFFER4]][0] : 128x64xf16 {keep = 5}
//  CHECK-NEXT:   tile.tma_load %arg0[0, 0] -> %[[VIEW2]], %[[BUFFER4]][0] : 64x64xf16 {keep = 5, multicast = 2}
//  CHECK-NEXT:   tile.tma_load %arg1[0, 0] -> %[[VIEW3]], %[[BUFFER4]][0] : 64x128xf16
//  CHECK-NEXT:   tile.tma_load %arg2[0, 0] -> %[[BUFFER3]], %[[BUFFER4]][0] : 64x64xf16
//  CHECK-NEXT:   %[[SUM:.*]] = tile.mma %[[VIEW]][mk], %[[VIEW3]][kn], %[[V]] : 128x128xf32
//  CHECK-NEXT:   return %[[SUM]] : vector<128x128xf32>
//  BOTH-LABEL: func.func @product(
//        BOTH:   tile.tma_load %arg0[{{.*}} {keep = 5}
//        BOTH:   tile.tma_load %arg0[{{.*}} {keep = 5, multicast = 2}
//        BOTH:   tile.tma_load %arg1[{{.*}} {keep = 0}
//    BOTH-NOT:   keep
//        BOTH:   return
//    NONE-NOT: keep =
func.func @product(%X: !llvm.ptr, %Y: !llvm.ptr, %other: !llvm.ptr) -> vector<128x128xf32> {
  %z = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<4x128x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<4x64x128xf16, 3>
  %C = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x4xi64, 3>
  %a = memref.subview %A[%z, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xf16, 3> to memref<128x64xf16, strided<[64, 1], offset: ?>, 3>
  %low = memref.subview %a[64, 0] [64, 64] [1, 1] : memref<128x64xf16, strided<[64, 1], offset: ?>, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
  %b = memref.subview %B[%z, 0, 0] [1, 64, 128] [1, 1, 1] : memref<4x64x128xf16, 3> to memref<64x128xf16, strided<[128, 1], offset: ?>, 3>
  "tile.tma_load"(%a, %X, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<128x64xf16, strided<[64, 1], offset: ?>, 3>, !llvm.ptr, memref<2x4xi64, 3>, index, index, index) -> ()
  "tile.tma_load"(%low, %X, %bars, %z, %z, %z) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, !llvm.ptr, memref<2x4xi64, 3>, index, index, index) -> ()
  "tile.tma_load"(%b, %Y, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x128xf16, strided<[128, 1], offset: ?>, 3>, !llvm.ptr, memref<2x4xi64, 3>, index, index, index) -> ()
  "tile.tma_load"(%C, %other, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x4xi64, 3>, index, index, index) -> ()
  %sum = "tile.mma"(%a, %b, %zero) {a = "mk", b = "kn"} : (memref<128x64xf16, strided<[64, 1], offset: ?>, 3>, memref<64x128xf16, strided<[128, 1], offset: ?>, 3>, vector<128x128xf32>) -> vector<128x128xf32>
  return %sum : vector<128x128xf32>
}
