// widen-functions leaves alone what has no function, what has nothing but one, and sums along rows.
// RUN: mlir-gemm opt %s widen-functions | FileCheck %s
// RUN: not mlir-gemm opt %s 'widen-functions{to=f64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'widen-functions' has no option 'to' (options: none)

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Packed instructions of 16 bits compute these.
// CHECK-LABEL: func.func @arithmetic(
//       CHECK:   arith.mulf {{.*}} : f16
//  CHECK-NEXT:   arith.addf {{.*}} : f16
func.func @arithmetic(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf16>
  %0 = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) {
  ^bb0(%v: f16, %o: f16):
    %p = arith.mulf %v, %v : f16
    %r = arith.addf %p, %v : f16
    linalg.yield %r : f16
  } -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// It is extended and rounded where it becomes a formula.
// CHECK-LABEL: func.func @single(
//       CHECK:   math.tanh {{.*}} : f16
func.func @single(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf16>
  %0 = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) {
  ^bb0(%v: f16, %o: f16):
    %r = math.tanh %v : f16
    linalg.yield %r : f16
  } -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// What is added up is the business of widen-accumulator.
// CHECK-LABEL: func.func @sums(
//       CHECK:   math.exp {{.*}} : f16
//  CHECK-NEXT:   arith.addf {{.*}} : f16
func.func @sums(%x: tensor<4x8xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %0 = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf16>) outs(%y : tensor<4xf16>) {
  ^bb0(%v: f16, %o: f16):
    %p = math.exp %v : f16
    %r = arith.addf %p, %o : f16
    linalg.yield %r : f16
  } -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
