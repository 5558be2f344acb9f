// fold-movement: heads of a product's result are batches of the product that reads them, where they lie; a second run
// changes nothing.
// RUN: mlir-gemm opt --split-input-file %s 'func.func(linalg-generalize-named-ops)' simplify-generics fold-movement | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s 'func.func(linalg-generalize-named-ops)' simplify-generics fold-movement fold-movement | FileCheck %s

// Keys: written as they are multiplied, and read transposed, along their neighbours as k.
// CHECK-DAG: #[[WRITTEN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-LABEL: func.func @keys(
//       CHECK:   %[[K:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[WRITTEN]]]{{.*}} outs(%{{.*}} : tensor<8x2x16xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #[[READ]], #{{.*}}]{{.*}} ins(%arg2, %[[K]] :
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
#x = affine_map<(t, h, d, k) -> (t, k)>
#w = affine_map<(t, h, d, k) -> (h, d, k)>
#thd = affine_map<(t, h, d, k) -> (t, h, d)>
func.func @keys(%x: tensor<8x32xf32>, %w: tensor<2x16x32xf32>, %q: tensor<2x8x16xf32>) -> tensor<2x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x2x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %k = linalg.generic {indexing_maps = [#x, #w, #thd], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x32xf32>, tensor<2x16x32xf32>) outs(%z : tensor<8x2x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x2x16xf32>
  %et = tensor.empty() : tensor<2x16x8xf32>
  %t = linalg.transpose ins(%k : tensor<8x2x16xf32>) outs(%et : tensor<2x16x8xf32>) permutation = [1, 2, 0]
  %es = tensor.empty() : tensor<2x8x8xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %s = linalg.batch_matmul ins(%q, %t : tensor<2x8x16xf32>, tensor<2x16x8xf32>) outs(%zs : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  return %s : tensor<2x8x8xf32>
}

// -----

// What heads have found is multiplied along heads and their columns: k is one loop only where it is written so.
// CHECK-DAG: #[[THD:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @output(
//       CHECK:   %[[O:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[THD]]]{{.*}} outs(%{{.*}} : tensor<8x2x16xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[O]], %arg2 :
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
#o = affine_map<(t, n, h, d) -> (t, h, d)>
#u = affine_map<(t, n, h, d) -> (n, h, d)>
#tn = affine_map<(t, n, h, d) -> (t, n)>
func.func @output(%p: tensor<2x8x8xf32>, %v: tensor<2x8x16xf32>, %u: tensor<32x2x16xf32>) -> tensor<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %f = linalg.batch_matmul ins(%p, %v : tensor<2x8x8xf32>, tensor<2x8x16xf32>) outs(%z : tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %et = tensor.empty() : tensor<8x2x16xf32>
  %t = linalg.transpose ins(%f : tensor<2x8x16xf32>) outs(%et : tensor<8x2x16xf32>) permutation = [1, 0, 2]
  %er = tensor.empty() : tensor<8x32xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#o, #u, #tn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%t, %u : tensor<8x2x16xf32>, tensor<32x2x16xf32>) outs(%zr : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
