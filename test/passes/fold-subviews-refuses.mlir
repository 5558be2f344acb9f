// What fold-subviews refuses: each error names the place, and what is expected instead.
// RUN: mlir-gemm opt %s fold-subviews | FileCheck %s

// Views that are left: with other steps, with another dimension dropped than the first ones, with other uses. Accesses
// that can be folded are folded all the same.

// CHECK-LABEL: @steps
// CHECK: memref.subview
func.func @steps(%m: memref<8x8xf16>, %i: index) -> vector<2xf16> {
  %view = memref.subview %m[%i, 0] [2, 8] [2, 1] : memref<8x8xf16> to memref<2x8xf16, strided<[16, 1], offset: ?>>
  %v = vector.load %view[%i, %i] : memref<2x8xf16, strided<[16, 1], offset: ?>>, vector<2xf16>
  return %v : vector<2xf16>
}

// The last dimension is dropped, though the first could be.
// CHECK-LABEL: @last
// CHECK: memref.subview
// CHECK: memref.load
func.func @last(%m: memref<4x8x1xf16>, %i: index) -> f16 {
  %view = memref.subview %m[%i, 0, 0] [1, 8, 1] [1, 1, 1] : memref<4x8x1xf16> to memref<1x8xf16, strided<[8, 1], offset: ?>>
  %v = vector.load %view[%i, %i] : memref<1x8xf16, strided<[8, 1], offset: ?>>, vector<1xf16>
  %w = memref.load %view[%i, %i] : memref<1x8xf16, strided<[8, 1], offset: ?>>
  return %w : f16
}

// CHECK-LABEL: @others
// CHECK-SAME: %[[M:[^:]*]]: memref<8x8xf16>
// CHECK: %[[VIEW:.*]] = memref.subview
// CHECK: vector.load %[[M]]
// CHECK: memref.extract_aligned_pointer_as_index %[[VIEW]]
func.func @others(%m: memref<8x8xf16>, %i: index) -> index {
  %view = memref.subview %m[%i, 0] [2, 8] [1, 1] : memref<8x8xf16> to memref<2x8xf16, strided<[8, 1], offset: ?>>
  %v = vector.load %view[%i, %i] : memref<2x8xf16, strided<[8, 1], offset: ?>>, vector<2xf16>
  %w = memref.extract_aligned_pointer_as_index %view : memref<2x8xf16, strided<[8, 1], offset: ?>> -> index
  return %w : index
}
