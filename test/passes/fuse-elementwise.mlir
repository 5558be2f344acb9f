// fuse-elementwise: a chain after a product is one operation; a second run changes nothing.
// RUN: mlir-gemm opt %s fuse-elementwise | FileCheck %s
// RUN: mlir-gemm opt %s fuse-elementwise fuse-elementwise | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @chain(
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %arg2 : tensor<4x6xf32>, tensor<6xf32>)
//       CHECK:     arith.addf
//       CHECK:     math.tanh
//       CHECK:     arith.truncf
//   CHECK-NOT:   linalg.generic
//       CHECK:   return %[[R]] : tensor<4x6xf16>
func.func @chain(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %bias: tensor<6xf32>, %C: tensor<4x6xf32>) -> tensor<4x6xf16> {
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
  %1 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%a: f32, %o: f16):
    %v = arith.truncf %a : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x6xf16>
  return %3 : tensor<4x6xf16>
}

// An extension of what is in memory is repeated where it is read.
// CHECK-LABEL: func.func @extension(
//       CHECK:   %[[X:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf16>)
//       CHECK:     arith.extf
//       CHECK:     math.exp
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x6xf16>)
//       CHECK:     arith.extf
//       CHECK:     arith.negf
//       CHECK:   return %[[X]], %[[Y]]
func.func @extension(%A: tensor<4x6xf16>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x6xf16>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f16, %o: f32):
    %v = arith.extf %a : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>
}

// A rounded product is extended by each of two readers, one of which meets what is reduced of the other: it is in memory
// as it was rounded.
// CHECK-LABEL: func.func @rounded(
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
//       CHECK:   %[[H:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<4x6xf32>) outs(%{{.*}} : tensor<4x6xf16>)
//       CHECK:     arith.truncf
//  CHECK-NEXT:     linalg.yield
//       CHECK:   linalg.generic {{.*}} ins(%[[H]] : tensor<4x6xf16>)
//       CHECK:     arith.extf
//  CHECK-NEXT:     math.absf
//       CHECK:   linalg.generic {{.*}} ins(%[[H]], %{{.*}} : tensor<4x6xf16>, tensor<4xf32>)
//       CHECK:     arith.extf
//  CHECK-NEXT:     arith.divf
func.func @rounded(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>, %C: tensor<4x6xf32>, %D: tensor<4xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%C : tensor<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %h = tensor.empty() : tensor<4x6xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x6xf32>) outs(%h : tensor<4x6xf16>) {
  ^bb0(%a: f32, %o: f16):
    %v = arith.truncf %a : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4x6xf16>
  %e = tensor.empty() : tensor<4x6xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<4x6xf16>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f16, %o: f32):
    %v = arith.extf %a : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.absf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  %4 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%3 : tensor<4x6xf32>) outs(%D : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %4 : tensor<4x6xf32>, tensor<4xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x6xf32>
  return %5 : tensor<4x6xf32>
}
