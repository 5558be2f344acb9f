// scalar-arguments: numbers become memory of rank 0 that operations read; a second run is given none.
// RUN: mlir-gemm opt --split-input-file %s scalar-arguments | FileCheck %s

// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0) -> (d0)>

// An operand, a number in a body, and arithmetic in front of it.
// CHECK-LABEL: func.func @tensors(
//  CHECK-SAME:   %[[X:.*]]: tensor<8xf32>, %[[A:.*]]: tensor<f32> {tile.scalar}, %[[B:.*]]: tensor<f32> {tile.scalar}) -> tensor<8xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[ALL]], #[[NONE]], #[[NONE]], #[[ALL]]], {{.*}} ins(%[[X]], %[[A]], %[[B]] : {{.*}})
//  CHECK-NEXT:   ^bb0(%[[V:.*]]: f32, %[[ALPHA:.*]]: f32, %[[BETA:.*]]: f32, %{{.*}}: f32):
//  CHECK-NEXT:     %[[T:.*]] = arith.addf %[[BETA]], %[[BETA]]
//  CHECK-NEXT:     %[[U:.*]] = arith.mulf %[[V]], %[[ALPHA]]
//  CHECK-NEXT:     %[[W:.*]] = arith.addf %[[U]], %[[T]]
//  CHECK-NEXT:     linalg.yield %[[W]]
func.func @tensors(%x: tensor<8xf32>, %alpha: f32, %beta: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %twice = arith.addf %beta, %beta : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %alpha : tensor<8xf32>, f32) outs(%e : tensor<8xf32>) {
  ^bb0(%v: f32, %a: f32, %o: f32):
    %u = arith.mulf %v, %a : f32
    %w = arith.addf %u, %twice : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A named operation on memory.
// CHECK-LABEL: func.func @memrefs(
//  CHECK-SAME:   %[[X:.*]]: memref<8xf16>, %[[A:.*]]: memref<f16> {tile.scalar})
//       CHECK:   linalg.generic {indexing_maps = [#[[NONE]], #[[ALL]]], {{.*}} ins(%[[A]] : memref<f16>) outs(%[[X]] : memref<8xf16>)
func.func @memrefs(%x: memref<8xf16>, %a: f16) {
  linalg.fill ins(%a : f16) outs(%x : memref<8xf16>)
  return
}

// An index is an i64, and the offset of a slice.
// CHECK-LABEL: func.func @offset(
//  CHECK-SAME:   %[[X:.*]]: tensor<8xf32>, %[[AT:.*]]: tensor<i64> {tile.scalar}
//       CHECK:   %[[N:.*]] = tensor.extract %[[AT]][] : tensor<i64>
//       CHECK:   %[[P:.*]] = arith.index_cast %[[N]] : i64 to index
//       CHECK:   tensor.extract_slice %{{.*}}[%[[P]]] [4] [1]
func.func @offset(%x: tensor<8xf32>, %at: index) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[%at] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @none(
//       CHECK:   linalg.fill
func.func @none(%x: memref<8xf16>) {
  %z = arith.constant 0.0 : f16
  linalg.fill ins(%z : f16) outs(%x : memref<8xf16>)
  return
}
