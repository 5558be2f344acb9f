// RUN: not mlir-gemm opt %s expand-algebras --split-input-file 2>&1 | FileCheck %s

#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @name(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>, %C: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  // CHECK: expand-algebras-refuses.mlir:[[# @LINE + 1]]:8: error: 'duel' is not an algebra; did you mean 'dual'? There are complex, dual, split-complex, quaternion, and what mlir_gemm.register(mlir_gemm.Bilinear(...)) adds
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"], tile.algebra = "duel"}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%C : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

// -----

#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @components(%A: tensor<4x8x2xf32>, %B: tensor<8x6x2xf32>, %C: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  // CHECK: expand-algebras-refuses.mlir:[[# @LINE + 1]]:8: error: 'tile.algebra' of 4 components with operand 0 of 2 along its last dimension
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"], tile.algebra = "quaternion"}
      ins(%A, %B : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%C : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}

// -----

#id = affine_map<(m, p) -> (m, p)>
func.func @body(%A: tensor<4x2xf32>, %C: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK: expand-algebras-refuses.mlir:[[# @LINE + 1]]:8: error: 'tile.algebra' on an operation with another body; expected a linalg.generic whose body adds a product of two elements of one type, and loops of rows, columns and k
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tile.algebra = "dual"}
      ins(%A : tensor<4x2xf32>) outs(%C : tensor<4x2xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<4x2xf32>
  return %p : tensor<4x2xf32>
}

// -----

#a = affine_map<(m, n, k, p) -> (m, p, k)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#d = affine_map<(m, n, k, p) -> (m, n, p)>
func.func @order(%A: tensor<4x2x8xf32>, %B: tensor<8x6x2xf32>, %C: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  // CHECK: expand-algebras-refuses.mlir:[[# @LINE + 1]]:8: error: 'tile.algebra' with operand 0 through (d0, d1, d2, d3) -> (d0, d3, d2); expected whole loops, and the last one, d3, along the last dimension
  %p = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "reduction", "parallel"], tile.algebra = "dual"}
      ins(%A, %B : tensor<4x2x8xf32>, tensor<8x6x2xf32>) outs(%C : tensor<4x6x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6x2xf32>
  return %p : tensor<4x6x2xf32>
}
