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

// -----

// A product's result plus what is read of it at other places, of which a transpose is sliced: both are one operation,
// which reads the result where it lies.
// CHECK-LABEL: func.func @turned(
//       CHECK:   %[[P:.*]] = linalg.matmul
//   CHECK-NOT:   linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], {{.*}} outs(%{{.*}} : tensor<8x4xf32>)
//       CHECK:     %[[A:.*]] = arith.addi %{{.*}}, %{{.*}} : index
//       CHECK:     tensor.extract %[[P]][%{{.*}}, %[[A]]] : tensor<8x4xf32>
//       CHECK:     arith.negf
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic
#t = affine_map<(i, j) -> (j, i)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
func.func @turned(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  %e = tensor.empty() : tensor<8x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %et = tensor.empty() : tensor<4x8xf32>
  %m = linalg.generic {indexing_maps = [#t, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x4xf32>)
      outs(%et : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %s = tensor.extract_slice %m[2, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %en = tensor.empty() : tensor<2x8xf32>
  %n = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x8xf32>)
      outs(%en : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<2x8xf32>
  %pi = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<8xi64>
  %pj = "tile.position"() {operandSegmentSizes = array<i32: 0>} : () -> tensor<4xi64>
  %c = linalg.generic {indexing_maps = [#i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%pi, %pj : tensor<8xi64>, tensor<4xi64>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %at = arith.minsi %b, %one : i64
    %i = arith.index_cast %a : i64 to index
    %j = arith.index_cast %at : i64 to index
    %v = tensor.extract %n[%j, %i] : tensor<2x8xf32>
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
