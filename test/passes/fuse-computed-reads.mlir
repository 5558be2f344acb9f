// fuse-computed-reads: slices and shifts are read where they are used; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s fuse-computed-reads | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s fuse-computed-reads fuse-computed-reads | FileCheck %s

#v = affine_map<(j) -> (j)>

// Each element minus the one that a place says, of a tensor that starts with a number: one pass over memory for three.
// CHECK-LABEL: func.func @shift(
//  CHECK-SAME:   %[[X:.*]]: tensor<64xf32>, %[[AT:.*]]: tensor<64xi64>)
//       CHECK:   linalg.generic {{.*}} ins(%[[AT]], %[[X]] :
//       CHECK:     %[[OLD:.*]] = tensor.extract %[[X]][
//   CHECK-NOT:     tensor.extract
//       CHECK:     arith.select %{{.*}}, %[[OLD]], %{{.*}} : f32
//       CHECK:     arith.subf
//   CHECK-NOT:   linalg.generic
func.func @shift(%x: tensor<64xf32>, %at: tensor<64xi64>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %first = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<64xi64>)
      outs(%e : tensor<64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %none = arith.constant 0 : i64
    %i = arith.index_cast %a : i64 to index
    %old = tensor.extract %x[%i] : tensor<64xf32>
    %new = tensor.extract %first[%i] : tensor<64xf32>
    %inside = arith.cmpi sge, %a, %none : i64
    %r = arith.select %inside, %old, %new : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%s, %x : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %b, %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %d : tensor<64xf32>
}

// -----

#v = affine_map<(j) -> (j)>
#e = affine_map<(i, j) -> (i, j)>
#c = affine_map<(i, j) -> (j)>

// What is read at a computed place is computed there, of an operand for each column too.
// CHECK-LABEL: func.func @scaled(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x64xf16>, %[[W:.*]]: tensor<64xf16>, %[[AT:.*]]: tensor<64xi64>)
//       CHECK:   linalg.generic {{.*}} ins(%[[AT]] : tensor<64xi64>)
//       CHECK:     %[[ROW:.*]] = arith.constant 3 : index
//       CHECK:     %[[A:.*]] = tensor.extract %[[X]][%[[ROW]], %[[J:.*]]] : tensor<4x64xf16>
//       CHECK:     %[[B:.*]] = tensor.extract %[[W]][%[[J]]] : tensor<64xf16>
//       CHECK:     arith.mulf %[[A]], %[[B]] : f16
//   CHECK-NOT:   linalg.generic
func.func @scaled(%x: tensor<4x64xf16>, %w: tensor<64xf16>, %at: tensor<64xi64>) -> tensor<64xf16> {
  %he = tensor.empty() : tensor<4x64xf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<4x64xf16>, tensor<64xf16>) outs(%he : tensor<4x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %r = arith.mulf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<4x64xf16>
  %e = tensor.empty() : tensor<64xf16>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<64xi64>)
      outs(%e : tensor<64xf16>) {
  ^bb0(%a: i64, %o: f16):
    %row = arith.constant 3 : index
    %i = arith.index_cast %a : i64 to index
    %r = tensor.extract %h[%row, %i] : tensor<4x64xf16>
    linalg.yield %r : f16
  } -> tensor<64xf16>
  return %s : tensor<64xf16>
}
