// group-kernels: what is fused with a product, what is not, and why; a second run chooses the same.
// RUN: mlir-gemm opt %s group-kernels | FileCheck %s
// RUN: mlir-gemm opt %s group-kernels group-kernels | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#tr = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (n)>

// Two products meet: the elementwise operation goes with the later one. A bias and a transposed result are no obstacle.
// The fill that both products start from belongs to neither.
// CHECK-LABEL: func.func @two_products(
//       CHECK:   linalg.fill ins
//       CHECK:   linalg.matmul {{.*}}tile.kernel = 0 : i64
//       CHECK:   linalg.matmul {{.*}}tile.kernel = 1 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 1 : i64
func.func @two_products(%A: tensor<8x16xf32>, %B: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%A, %B : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.matmul ins(%A, %B : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #row, #tr], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q, %b : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %s = arith.mulf %x, %y : f32
    %t = arith.addf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// Through a change of shape, and a chain: all one kernel.
// CHECK-LABEL: func.func @shapes(
//       CHECK:   linalg.matmul {{.*}}tile.kernel = 0 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 0 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 0 : i64
func.func @shapes(%A: tensor<8x16xf32>, %B: tensor<16x6xf32>, %C: tensor<8x6xf32>) -> tensor<48xf32> {
  %p = linalg.matmul ins(%A, %B : tensor<8x16xf32>, tensor<16x6xf32>) outs(%C : tensor<8x6xf32>) -> tensor<8x6xf32>
  %v = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v : tensor<2x4x6xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.tanh %x : f32
    linalg.yield %s : f32
  } -> tensor<2x4x6xf32>
  %w = tensor.collapse_shape %q [[0, 1, 2]] : tensor<2x4x6xf32> into tensor<48xf32>
  %d = tensor.empty() : tensor<48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%w : tensor<48xf32>) outs(%d : tensor<48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// Each element at two places, a row for all, a reduction: kernels of their own. What the last operation needs from the
// reduction depends on the product.
// CHECK-LABEL: func.func @apart(
//       CHECK:   linalg.matmul {{.*}}tile.kernel = 0 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 1 : i64, tile.note = "it cannot be fused with the product at {{.*}}: it takes elements of its result from several places"
//       CHECK:   linalg.generic {{.*}}tile.kernel = 2 : i64, tile.note = "one thread computes each result: it is no product of two operands, as it combines by 'arith.maximumf', not by an addition, nor what is combined along rows: {{.*}}"
//       CHECK:   linalg.generic {{.*}}tile.kernel = 3 : i64, tile.note = "it cannot be fused with the product at {{.*}}: another of its operands is computed from that product by another kernel"
func.func @apart(%A: tensor<8x16xf32>, %B: tensor<16x8xf32>, %C: tensor<8x8xf32>, %m: tensor<8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %p = linalg.matmul ins(%A, %B : tensor<8x16xf32>, tensor<16x8xf32>) outs(%C : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #tr, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %max = linalg.generic {indexing_maps = [#id, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x8xf32>) outs(%m : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(m, n) -> (m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %q, %r : tensor<8x8xf32>, tensor<8x8xf32>
}

// A kernel that another one's epilogue needs runs before it, although it stands after it. A fill that is a result is
// a kernel.
// CHECK-LABEL: func.func @order(
//       CHECK:   linalg.fill {tile.kernel = 0 : i64}
//       CHECK:   linalg.matmul {{.*}}tile.kernel = 2 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 1 : i64
//       CHECK:   linalg.generic {{.*}}tile.kernel = 2 : i64
func.func @order(%A: tensor<8x16xf32>, %B: tensor<16x8xf32>, %C: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%A, %B : tensor<8x16xf32>, tensor<16x8xf32>) outs(%C : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%C : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r, %f : tensor<8x8xf32>, tensor<8x8xf32>
}
