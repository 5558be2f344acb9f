// What expand-scatter refuses; a place is one of the source, whose custom form the parser has read.
// RUN: not mlir-gemm opt --split-input-file %s expand-scatter 2>&1 | FileCheck %s

func.func @subtracted(%x: tensor<9xf32>, %new: tensor<3x1xf32>, %at: tensor<3x1xi64>) -> tensor<9xf32> {
  // CHECK: expand-scatter-refuses.mlir:[[# @LINE + 1]]:8: error: 'tm_tensor.scatter' that combines updates with what is there by 'arith.subf'; expected one of arith.addf, arith.addi
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %at : tensor<3x1xf32>, tensor<3x1xi64>) outs(%x : tensor<9xf32>) {
  ^bb0(%update: f32, %old: f32):
    %1 = arith.subf %old, %update : f32
    tm_tensor.yield %1 : f32
  } -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

func.func @larger(%x: tensor<9x4xf32>, %new: tensor<3x2x4xf32>, %at: tensor<3x1xi64>) -> tensor<9x4xf32> {
  // CHECK: error: 'tm_tensor.scatter' of updates [2, 4] into [9, 4]; expected [1, 4]: one place an index
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%new, %at : tensor<3x2x4xf32>, tensor<3x1xi64>) outs(%x : tensor<9x4xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @many(%x: tensor<8192x64xf32>, %new: tensor<8192x1x1xf32>, %at: tensor<8192x2xi64>) -> tensor<8192x64xf32> {
  // CHECK: error: 'tm_tensor.scatter' of 8192 updates to 524288 places: 4294967296 comparisons, of 16777216 at most; write whole rows
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(true) ins(%new, %at : tensor<8192x1x1xf32>, tensor<8192x2xi64>) outs(%x : tensor<8192x64xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<8192x64xf32>
  return %0 : tensor<8192x64xf32>
}

// -----

func.func @open(%x: tensor<?x4xf32>, %new: tensor<3x1x4xf32>, %at: tensor<3x1xi64>) -> tensor<?x4xf32> {
  // CHECK: error: 'tm_tensor.scatter' with sizes that are not known; expected sizes in the module
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%new, %at : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%x : tensor<?x4xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @too_many(%x: tensor<100xf32>, %new: tensor<8192x1xf32>, %at: tensor<8192x1xi64>) -> tensor<100xf32> {
  // CHECK: error: 'tm_tensor.scatter' of 8192 updates to 100 places, compared with each other: 67108864 comparisons, of 16777216 at most; give fewer at a time, such as a batch's, or cut the program there
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %at : tensor<8192x1xf32>, tensor<8192x1xi64>) outs(%x : tensor<100xf32>) {
  ^bb0(%update: f32, %old: f32):
    %1 = arith.addf %old, %update : f32
    tm_tensor.yield %1 : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
