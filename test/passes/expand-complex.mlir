// expand-complex: complex numbers as pairs of real ones; a second run changes nothing.
// RUN: mlir-gemm opt %s expand-complex | FileCheck %s
// RUN: mlir-gemm opt %s expand-complex expand-complex | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// A product is one of elements of two components: the last loop runs along them, and tile.algebra says how they are
// multiplied. A conjugate is a sign of its constants.
//       CHECK: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
//       CHECK: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
//       CHECK: #[[D:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   %[[LEFT:.*]]: tensor<4x8x2xf32> {tile.complex}, %[[RIGHT:.*]]: tensor<8x6x2xf32> {tile.complex})
//  CHECK-SAME:   -> (tensor<4x6x2xf32> {tile.complex})
//       CHECK:   %[[START:.*]] = linalg.fill {{.*}} -> tensor<4x6x2xf32>
//       CHECK:   %[[P:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[D]]]
//  CHECK-SAME:       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
//  CHECK-SAME:       ins(%[[LEFT]], %[[RIGHT]] : tensor<4x8x2xf32>, tensor<8x6x2xf32>) outs(%[[START]]
//  CHECK-SAME:       attrs = {tile.algebra = {algorithm = "auto", constants = dense<{{.*}}1.000000e+00, 0.000000e+00], [0.000000e+00, -1.000000e+00]{{.*}}0.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00]{{.*}}> : tensor<2x2x2xf64>, left = 
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//       CHECK:   return %[[P]]
func.func @product(%A: tensor<4x8xcomplex<f32>>, %B: tensor<8x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<4x6xcomplex<f32>>
  %f = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xcomplex<f32>>, tensor<8x6xcomplex<f32>>) outs(%f : tensor<4x6xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %c: complex<f32>):
    %j = complex.conj %b : complex<f32>
    %m = complex.mul %a, %j : complex<f32>
    %s = complex.add %c, %m : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<4x6xcomplex<f32>>
  return %p : tensor<4x6xcomplex<f32>>
}

// Anything else computes both parts, and keeps the one that it is at.
// CHECK-LABEL: func.func @elementwise(
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4x6xf16>, tensor<4x6xf16>, tensor<4x6xf16>)
//       CHECK:   ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[S:.*]]: f16, %{{.*}}: f16):
//       CHECK:     %[[NEGATED:.*]] = arith.negf %[[Y]]
//       CHECK:     %[[PART:.*]] = linalg.index 2
//       CHECK:     arith.cmpi eq, %[[PART]], %{{.*}}
//       CHECK:     arith.select
func.func @elementwise(%A: tensor<4x6xcomplex<f16>>, %s: tensor<4x6xf16>) -> tensor<4x6xcomplex<f16>> {
  %e = tensor.empty() : tensor<4x6xcomplex<f16>>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %s : tensor<4x6xcomplex<f16>>, tensor<4x6xf16>) outs(%e : tensor<4x6xcomplex<f16>>) {
  ^bb0(%a: complex<f16>, %b: f16, %o: complex<f16>):
    %c = complex.conj %a : complex<f16>
    %re = complex.re %c : complex<f16>
    %im = complex.im %c : complex<f16>
    %x = arith.mulf %re, %b : f16
    %y = arith.mulf %im, %b : f16
    %r = complex.create %x, %y : complex<f16>
    linalg.yield %r : complex<f16>
  } -> tensor<4x6xcomplex<f16>>
  return %r : tensor<4x6xcomplex<f16>>
}

// What is linear in a product is computed from one part at a time: a conjugate goes into the product's constants, and
// what is added is read as it lies.
// CHECK-LABEL: func.func @epilogue(
//  CHECK-SAME:   %{{[^:]*}}: tensor<4x8x2xf32> {tile.complex}, %{{[^:]*}}: tensor<8x6x2xf32> {tile.complex}, %[[ROW:[^:]*]]: tensor<6x2xf32>
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}}{tile.algebra = {algorithm = "auto", constants = dense<{{.*}}1.000000e+00, 0.000000e+00], [0.000000e+00, -1.000000e+00]{{.*}}0.000000e+00, -1.000000e+00], [-1.000000e+00, 0.000000e+00]
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %[[ROW]] : tensor<4x6x2xf32>, tensor<6x2xf32>)
//       CHECK:     arith.addf
//   CHECK-NOT:     arith.select
func.func @epilogue(%A: tensor<4x8xcomplex<f32>>, %B: tensor<8x6xcomplex<f32>>, %r: tensor<6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<4x6xcomplex<f32>>
  %f = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xcomplex<f32>>, tensor<8x6xcomplex<f32>>) outs(%f : tensor<4x6xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %c: complex<f32>):
    %m = complex.mul %a, %b : complex<f32>
    %s = complex.add %c, %m : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<4x6xcomplex<f32>>
  %q = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<4x6xcomplex<f32>>, tensor<6xcomplex<f32>>) outs(%e : tensor<4x6xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %c = complex.conj %x : complex<f32>
    %s = complex.add %c, %y : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<4x6xcomplex<f32>>
  return %q : tensor<4x6xcomplex<f32>>
}

// A broadcast along dimensions of size 1 (rotary embeddings as complex numbers), and a real result of which others see
// a reshape: only complex tensors have a dimension more.
// CHECK-LABEL: func.func @broadcast(
//  CHECK-SAME:   %[[X:[^:]*]]: tensor<4x6x2xf32> {tile.complex}, %[[Y:[^:]*]]: tensor<1x6x2xf32> {tile.complex})
//       CHECK:   %[[ROW:.*]] = tensor.collapse_shape %[[Y]] {{.*}} : tensor<1x6x2xf32> into tensor<6x2xf32>
//   CHECK-DAG:   %[[A:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [4, 6, 1]
//   CHECK-DAG:   %[[B:.*]] = tensor.extract_slice %[[ROW]][0, 0] [6, 1]
//       CHECK:   linalg.generic {{.*}} ins(%[[A]], %{{.*}}, %[[B]], %{{.*}} : tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
//       CHECK:   %[[RE:.*]] = linalg.generic
//       CHECK:   tensor.collapse_shape %[[RE]] {{\[}}[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
func.func @broadcast(%x: tensor<4x6xcomplex<f32>>, %y: tensor<1x6xcomplex<f32>>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<4x6xcomplex<f32>>
  %p = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (0, j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x6xcomplex<f32>>, tensor<1x6xcomplex<f32>>) outs(%e : tensor<4x6xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %o: complex<f32>):
    %m = complex.mul %a, %b : complex<f32>
    linalg.yield %m : complex<f32>
  } -> tensor<4x6xcomplex<f32>>
  %r = tensor.empty() : tensor<4x6xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xcomplex<f32>>) outs(%r : tensor<4x6xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %re = complex.re %a : complex<f32>
    linalg.yield %re : f32
  } -> tensor<4x6xf32>
  %c = tensor.collapse_shape %q [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %c : tensor<24xf32>
}
