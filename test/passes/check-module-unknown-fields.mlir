// check-module: a field that no schedule has is refused on any function, also where nothing would ask for it.
// RUN: not mlir-gemm opt %s check-module 2>&1 | FileCheck %s

// CHECK: check-module-unknown-fields.mlir:[[# @LINE + 1]]:1: error: unknown schedule field 'blok'; did you mean 'block'? (fields: block, warp,
func.func @no_product(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tile.schedule = {blok = [1, 2, 3]}} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.tanh ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
