// apply-layouts: the layout that a staging buffer asks for becomes its memref type.
// RUN: mlir-gemm opt %s apply-layouts | FileCheck %s
// RUN: mlir-gemm opt %s apply-layouts apply-layouts | FileCheck %s

// Subviews, and subviews of these, get the strides that follow; where all offsets are constant, so does the offset.
// CHECK-LABEL: @stages
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2x32x64xf16, strided<[2304, 72, 1]>, 3>
// CHECK: %[[TILE:.*]] = memref.subview %[[BUFFER]][%{{.*}}, 0, 0] [1, 32, 64] [1, 1, 1] : {{.*}} to memref<32x64xf16, strided<[72, 1], offset: ?>, 3>
// CHECK: %[[PART:.*]] = memref.subview %[[TILE]][%{{.*}}, 16] [16, 16] [1, 1] : {{.*}} to memref<16x16xf16, strided<[72, 1], offset: ?>, 3>
// CHECK: "tile.copy"(%[[PART]], {{.*}} : (memref<16x16xf16, strided<[72, 1], offset: ?>, 3>,
// CHECK: memref.subview %[[BUFFER]][1, 2, 0] {{.*}} to memref<16x64xf16, strided<[72, 1], offset: 2448>, 3>
// CHECK: memref.subview {{.*}} to memref<8x64xf16, strided<[72, 1], offset: 2736>, 3>
func.func @stages(%stage: index, %row: index) {
  %buffer = memref.alloc() {tile.layout = "pad8"} : memref<2x32x64xf16, 3>
  %tile = memref.subview %buffer[%stage, 0, 0] [1, 32, 64] [1, 1, 1] : memref<2x32x64xf16, 3> to memref<32x64xf16, strided<[64, 1], offset: ?>, 3>
  %part = memref.subview %tile[%row, 16] [16, 16] [1, 1] : memref<32x64xf16, strided<[64, 1], offset: ?>, 3> to memref<16x16xf16, strided<[64, 1], offset: ?>, 3>
  "tile.copy"(%part, %part, %row, %row) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[64, 1], offset: ?>, 3>, memref<16x16xf16, strided<[64, 1], offset: ?>, 3>, index, index) -> ()
  %second = memref.subview %buffer[1, 2, 0] [1, 16, 64] [1, 1, 1] : memref<2x32x64xf16, 3> to memref<16x64xf16, strided<[64, 1], offset: 2176>, 3>
  %inner = memref.subview %second[4, 0] [8, 64] [1, 1] : memref<16x64xf16, strided<[64, 1], offset: 2176>, 3> to memref<8x64xf16, strided<[64, 1], offset: 2432>, 3>
  return
}

// CHECK-LABEL: @dense
// CHECK: memref.alloc() : memref<32x64xf16, strided<[64, 1]>, 3>
// CHECK: memref.alloc() : memref<32x64xf16, 3>
func.func @dense() {
  %buffer = memref.alloc() {tile.layout = "pad0"} : memref<32x64xf16, 3>
  %plain = memref.alloc() : memref<32x64xf16, 3>
  return
}

// Which accesses an XOR changes is known only later: the buffer keeps its type and the attribute.
// CHECK-LABEL: @xor
// CHECK: memref.alloc() {tile.layout = "xor"} : memref<2x32x64xf16, 3>
func.func @xor() {
  %buffer = memref.alloc() {tile.layout = "xor"} : memref<2x32x64xf16, 3>
  return
}

// What only the copy engine and wgmma access, and the barriers of a ring, keep both too.
// CHECK-LABEL: @ring
// CHECK: memref.alloc() {tile.layout = "swizzle128"} : memref<2x32x64xf16, 3>
// CHECK: memref.alloc() {tile.layout = "swizzle64"} : memref<2x64x32xf16, 3>
// CHECK: memref.alloc() {tile.layout = "swizzle32"} : memref<2x64x16xf16, 3>
// CHECK: memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
func.func @ring() {
  %buffer = memref.alloc() {tile.layout = "swizzle128"} : memref<2x32x64xf16, 3>
  %half = memref.alloc() {tile.layout = "swizzle64"} : memref<2x64x32xf16, 3>
  %quarter = memref.alloc() {tile.layout = "swizzle32"} : memref<2x64x16xf16, 3>
  %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
  return
}
