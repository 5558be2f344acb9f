// What unfold-windows refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s unfold-windows 2>&1 | FileCheck %s

// CHECK: error: 'linalg.generic' with indexing map (d0) -> (d0 ceildiv 2); expected sums of loops times numbers
func.func @quotient(%A: tensor<3xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i ceildiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%A : tensor<3xf32>) outs(%B : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'tensor.pad' whose padding value is not one constant; expected a constant
func.func @pad(%A: tensor<2xf32>, %v: f32) -> tensor<4xf32> {
  %0 = tensor.pad %A low[1] high[1] {
  ^bb0(%n: index):
    tensor.yield %v : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
