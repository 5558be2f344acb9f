// widen-products leaves alone what wraps, what is no product, and what rounds in the type in which it is added up.
// RUN: mlir-gemm opt %s widen-products | FileCheck %s
// RUN: not mlir-gemm opt %s 'widen-products{to=f64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'widen-products' has no option 'to' (options: none)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Integers wrap at 8 bits, which a wider multiplication would not.
// CHECK-LABEL: func.func @integers(
//       CHECK:   arith.muli {{.*}} : i8
//  CHECK-NEXT:   arith.extsi
func.func @integers(%A: tensor<4x8xi8>, %B: tensor<8x6xi8>, %C: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xi8>, tensor<8x6xi8>) outs(%C : tensor<4x6xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %p = arith.muli %x, %y : i8
    %w = arith.extsi %p : i8 to i32
    %s = arith.addi %z, %w : i32
    linalg.yield %s : i32
  } -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// A sum of squares along rows reads one operand.
// CHECK-LABEL: func.func @squares(
//       CHECK: ^bb0
//  CHECK-NEXT:   arith.mulf {{.*}} : f16
//  CHECK-NEXT:   arith.extf
//  CHECK-NEXT:   arith.addf
func.func @squares(%A: tensor<4x8xf16>, %C: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x8xf16>) outs(%C : tensor<4xf32>) {
  ^bb0(%x: f16, %z: f32):
    %p = arith.mulf %x, %x : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %z, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
