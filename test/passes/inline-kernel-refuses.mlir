// inline-kernel leaves programs alone whose kernel sees its buffers otherwise, takes one twice, or needs one of its own.
// RUN: mlir-gemm opt --split-input-file %s inline-kernel | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'inline-kernel{all=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'inline-kernel' has no option 'all' (options: none)

// CHECK-LABEL: func.func @other_shape(
//       CHECK:   "tile.run"
func.func @other_shape(%A: memref<2x2xf32>) {
  %a = memref.extract_aligned_pointer_as_index %A : memref<2x2xf32> -> index
  "tile.run"(%a) {kernel = "k", operandSegmentSizes = array<i32: 1>} : (index) -> ()
  return
}
module @k {
  func.func @k(%A: memref<4xf32>) {
    return
  }
}

// -----

// CHECK-LABEL: func.func @twice(
//       CHECK:   "tile.run"
func.func @twice(%A: memref<4xf32>) {
  %a = memref.extract_aligned_pointer_as_index %A : memref<4xf32> -> index
  "tile.run"(%a, %a) {kernel = "k", operandSegmentSizes = array<i32: 2>} : (index, index) -> ()
  return
}
module @k {
  func.func @k(%A: memref<4xf32>, %B: memref<4xf32>) {
    return
  }
}

// -----

// CHECK-LABEL: func.func @buffer(
//       CHECK:   "tile.run"
func.func @buffer() {
  %A = memref.alloc() : memref<4xf32>
  %a = memref.extract_aligned_pointer_as_index %A : memref<4xf32> -> index
  "tile.run"(%a) {kernel = "k", operandSegmentSizes = array<i32: 1>} : (index) -> ()
  return
}
module @k {
  func.func @k(%A: memref<4xf32>) {
    return
  }
}
