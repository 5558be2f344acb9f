// fuse-elementwise leaves chains of different products, and what is read twice. No options.
// RUN: mlir-gemm opt %s fuse-elementwise | FileCheck %s
// RUN: not mlir-gemm opt %s 'fuse-elementwise{all=true}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fuse-elementwise' has no option 'all' (options: none)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Each half stays the epilogue of its own product.
// CHECK-LABEL: func.func @gated(
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
//       CHECK:   %[[G:.*]] = linalg.generic {{.*}} ins(%[[P]] :
//       CHECK:     math.tanh
//       CHECK:   %[[Q:.*]] = linalg.generic {{.*}} ins(%arg0, %arg2
//       CHECK:   linalg.generic {{.*}} ins(%[[G]], %[[Q]] :
//       CHECK:     arith.mulf
func.func @gated(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %B2: tensor<8x6xf16>, %C: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %2 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B2 : tensor<4x8xf16>, tensor<8x6xf16>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @read_twice(
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%arg0 :
//       CHECK:     math.exp
//       CHECK:   linalg.generic {{.*}} ins(%[[E]] :
//       CHECK:   return %[[E]], %
func.func @read_twice(%A: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}
