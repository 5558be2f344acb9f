// What expand-complex refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s expand-complex --split-input-file 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>
func.func @power(%A: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%A : tensor<4xcomplex<f32>>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    // CHECK: expand-complex-refuses.mlir:[[# @LINE + 1]]:10: error: 'complex.pow' on complex numbers; expected add, sub, mul, div, neg, conj, abs, eq, neq, re, im, create, constant, or arith.select
    %d = complex.pow %a, %a : complex<f32>
    linalg.yield %d : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

// -----

// CHECK: expand-complex-refuses.mlir:[[# @LINE + 1]]:1: error: argument 0 has type memref<4xcomplex<f32>>; expected complex tensors, or memrefs of real numbers with a last dimension of 2
func.func @memory(%A: memref<4xcomplex<f32>>) {
  return
}

// -----

func.func @fill(%A: tensor<4xcomplex<f32>>, %x: complex<f32>) -> tensor<4xcomplex<f32>> {
  // CHECK: expand-complex-refuses.mlir:[[# @LINE + 1]]:8: error: a fill with a complex number that is no constant; expected complex.constant
  %r = linalg.fill ins(%x : complex<f32>) outs(%A : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}
