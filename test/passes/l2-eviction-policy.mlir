// l2-eviction-policy: copies into the buffers of one operand say how many of 32 boxes L2 keeps; a second run changes nothing.
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5}' | FileCheck %s
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5}' 'l2-eviction-policy{a=5}' | FileCheck %s
// RUN: mlir-gemm opt %s 'l2-eviction-policy{a=5 b=0}' | FileCheck %s --check-prefix=BOTH
// RUN: mlir-gemm opt %s l2-eviction-policy | FileCheck %s --check-prefix=NONE

// Parts of a stage, which a cluster copies together, belong to its operand too; a copy of what nobody multiplies to none.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr)
//       CHECK:   "tile.tma_load"(%{{.*}}, %[[X]], {{.*}} {keep = 5 : i64,
//       CHECK:   "tile.tma_load"(%{{.*}}, %[[X]], {{.*}} {keep = 5 : i64, multicast = 2 : i64,
//   CHECK-NOT:   keep
//       CHECK:   return
//  BOTH-LABEL: func.func @product(
//  BOTH-SAME: %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr)
//        BOTH:   "tile.tma_load"(%{{.*}}, %[[X]], {{.*}} {keep = 5 : i64,
//        BOTH:   "tile.tma_load"(%{{.*}}, %[[X]], {{.*}} {keep = 5 : i64, multicast
//        BOTH:   "tile.tma_load"(%{{.*}}, %[[Y]], {{.*}} {keep = 0 : i64,
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
