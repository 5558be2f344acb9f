// simplify-generics leaves a product its two tensors, what the body reads, and maps that are no permutations. No options.
// RUN: mlir-gemm opt %s simplify-generics | FileCheck %s
// RUN: not mlir-gemm opt %s 'simplify-generics{all=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'simplify-generics' has no option 'all' (options: none)

// A constant weight is still a weight.
// CHECK-LABEL: func.func @product(
//       CHECK:   %[[W:.*]] = arith.constant dense<2.000000e+00> : tensor<8x6xf32>
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %[[W]] : {{.*}}) outs(%arg1
func.func @product(%A: tensor<4x8xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %w = arith.constant dense<2.0> : tensor<8x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @window(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<6xf32>, tensor<3xf32>) outs(%arg2 : tensor<4xf32>)
func.func @window(%A: tensor<6xf32>, %B: tensor<3xf32>, %C: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>,
                                        affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%A, %B : tensor<6xf32>, tensor<3xf32>) outs(%C : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
