// scalar-arguments refuses numbers of other types, and uses that no kernel makes of them.
// RUN: not mlir-gemm opt --split-input-file %s scalar-arguments 2>&1 | FileCheck %s

// CHECK: :[[# @LINE + 1]]:1: error: argument 1 has type f8E5M2; expected a tensor, a memref, or a number of one of f16, bf16, f32, f64, i1, i8, i16, i32, i64, index
func.func @type(%x: memref<8xf8E5M2>, %a: f8E5M2) {
  linalg.fill ins(%a : f8E5M2) outs(%x : memref<8xf8E5M2>)
  return
}

// -----

// CHECK: :[[# @LINE + 2]]:8: error: 'tensor.empty' uses argument 0, a number (index); expected it in linalg operations, in arithmetic for these, or as an offset of a slice of tensors
func.func @size(%n: index, %a: f32) -> tensor<?xf32> {
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.fill ins(%a : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK: error: an argument that is a number is used by operations on tensors and by others on memrefs; expected all of one kind
func.func @both(%x: memref<8xf32>, %a: f32) -> tensor<8xf32> {
  linalg.fill ins(%a : f32) outs(%x : memref<8xf32>)
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%a : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK: error: 'tile.scalar' on an argument: this pass writes that attribute itself
func.func @marked(%x: memref<f32> {tile.scalar}) {
  return
}
