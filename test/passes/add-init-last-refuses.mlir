// add-init-last leaves products that start from a fill, an argument (or a view of one) or a constant. No options.
// RUN: mlir-gemm opt %s add-init-last | FileCheck %s
// RUN: not mlir-gemm opt %s 'add-init-last{zero=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'add-init-last' has no option 'zero' (options: none)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @argument(
//       CHECK:   linalg.generic {{.*}} outs(%arg2 : tensor<4x6xf32>)
func.func @argument(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @view(
//       CHECK:   %[[C:.*]] = tensor.expand_shape %arg2
//       CHECK:   linalg.generic {{.*}} outs(%[[C]] : tensor<4x6xf32>)
func.func @view(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %C: tensor<24xf32>) -> tensor<4x6xf32> {
  %c = tensor.expand_shape %C [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @filled(
//       CHECK:   %[[ZERO:.*]] = linalg.fill
//       CHECK:   linalg.generic {{.*}} outs(%[[ZERO]] : tensor<4x6xf32>)
func.func @filled(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %ce = tensor.empty() : tensor<4x6xf32>
  %c = linalg.fill ins(%zero : f32) outs(%ce : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
