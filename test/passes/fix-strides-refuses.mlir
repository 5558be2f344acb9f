// fix-strides refuses strides that the source excludes, and layouts that it cannot tell.
// RUN: not mlir-gemm opt --split-input-file %s 'fix-strides{strides=0:2,2}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt %s 'fix-strides{strides=all}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fix-strides': strides=all; expected numbers such as 0:48,1;2:24,1

// CHECK: :[[# @LINE + 1]]:1: error: argument 0 of memref<4x8xf32, strided<[?, 1]>> with strides [2, 2]
func.func @excluded(%A: memref<4x8xf32, strided<[?, 1]>>) {
  return
}

// -----

// CHECK: :[[# @LINE + 1]]:1: error: argument 0 has open sizes and a layout that is open in part (memref<?x8xf32, strided<[16, 1], offset: ?>>); expected all strides but the last as '?'
func.func @part(%A: memref<?x8xf32, strided<[16, 1], offset: ?>>) {
  return
}

// -----

// CHECK: :[[# @LINE + 2]]:8: error: 'memref.collapse_shape' of memory whose strides are open; expected memref.subview, memref.transpose and memref.cast
func.func @collapsed(%A: memref<4x8xf32, strided<[?, ?]>>) {
  %0 = memref.collapse_shape %A [[0, 1]] : memref<4x8xf32, strided<[?, ?]>> into memref<32xf32, strided<[?]>>
  return
}

// -----

// CHECK: error: 'tile.open_strides' on an argument: this pass writes that attribute itself
func.func @marked(%A: memref<8xf32> {tile.open_strides}) {
  return
}
