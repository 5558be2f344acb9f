// online-softmax leaves alone what is no maximum and sum of exponentials after it along the same rows.
// RUN: mlir-gemm opt --split-input-file %s 'online-softmax{least=4}' | FileCheck %s

// CHECK-NOT: math.absf
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Less than the maximum of something else.
func.func @other(%a: tensor<2x600xf32>, %b: tensor<2x600xf32>) -> tensor<2xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %starts = linalg.fill ins(%least : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %most = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<2x600xf32>) outs(%starts : tensor<2xf32>) {
  ^bb0(%x: f32, %m: f32):
    %r = arith.maximumf %x, %m : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%a, %most : tensor<2x600xf32>, tensor<2xf32>) outs(%none : tensor<2xf32>) {
  ^bb0(%x: f32, %m: f32, %s: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %sum : tensor<2xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// A maximum that starts from 0, as after a relu.
func.func @start(%a: tensor<2x600xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %starts = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %most = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x600xf32>) outs(%starts : tensor<2xf32>) {
  ^bb0(%x: f32, %m: f32):
    %r = arith.maximumf %x, %m : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%a, %most : tensor<2x600xf32>, tensor<2xf32>) outs(%none : tensor<2xf32>) {
  ^bb0(%x: f32, %m: f32, %s: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %sum : tensor<2xf32>
}
