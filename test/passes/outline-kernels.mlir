// outline-kernels: a program on buffers, and a module for each kernel; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s outline-kernels | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s outline-kernels outline-kernels | FileCheck %s

#id = affine_map<(m, n) -> (m, n)>

// The product's result stays inside its kernel; its epilogue's is the function's, in another shape. The weights are a
// constant of the outer module.
// CHECK-LABEL: memref.global "private" constant @constant_0 : memref<3x2xf32> = dense<
//       CHECK: func.func @fused(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: memref<2x3xf32> {tile.name = "A", tile.role = "in"},
//  CHECK-SAME:   %[[R:[a-z0-9]*]]: memref<4xf32> {tile.role = "result"})
//       CHECK:   %[[W:.*]] = memref.get_global @constant_0 : memref<3x2xf32>
//   CHECK-DAG:   %[[PA:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
//   CHECK-DAG:   %[[PW:.*]] = memref.extract_aligned_pointer_as_index %[[W]]
//   CHECK-DAG:   %[[PR:.*]] = memref.extract_aligned_pointer_as_index %[[R]]
//       CHECK:   "tile.run"(%[[PA]], %[[PW]], %[[PR]]) {kernel = "fused_0"
//  CHECK-NEXT:   return
//       CHECK: module @fused_0 attributes {tile.note = "because"} {
//  CHECK-NEXT:   func.func @fused_0(%[[A:.*]]: memref<2x3xf32>, %[[W:.*]]: memref<3x2xf32>, %[[R:.*]]: memref<4xf32>) {
//       CHECK:     %[[D:.*]] = memref.alloc() : memref<2x2xf32>
//       CHECK:     linalg.fill ins({{.*}}) outs(%[[D]] :
//       CHECK:     linalg.generic {{.*}}"reduction"]} ins(%[[A]], %[[W]] : {{.*}}) outs(%[[D]] :
//       CHECK:     %[[V:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [2, 2], strides: [2, 1]
//       CHECK:     linalg.generic {{.*}} ins(%[[D]] : {{.*}}) outs(%[[V]] :
//       CHECK:       math.exp
func.func @fused(%A: tensor<2x3xf32> {tile.name = "A"}) -> tensor<4xf32> {
  %W = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.matmul {tile.kernel = 0 : i64, tile.note = "because"}
      ins(%A, %W : tensor<2x3xf32>, tensor<3x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  %v = tensor.collapse_shape %r [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// C += A B where C is: no buffer, no copy.
// CHECK-LABEL: func.func @in_place(
//  CHECK-SAME:   memref<2x2xf32, strided<[4, 1]>> {tile.role = "inout"}
//   CHECK-NOT:   memref.alloc
//       CHECK: func.func @in_place_0(
//  CHECK-NEXT:   linalg.generic {{.*}} outs(%arg2 : memref<2x2xf32, strided<[4, 1]>>)
func.func @in_place(%A: tensor<2x3xf32>, %B: tensor<3x2xf32>, %C: memref<2x2xf32, strided<[4, 1]>>) {
  %c = bufferization.to_tensor %C restrict writable : memref<2x2xf32, strided<[4, 1]>> to tensor<2x2xf32>
  %p = linalg.matmul {tile.kernel = 0 : i64}
      ins(%A, %B : tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  bufferization.materialize_in_destination %p in restrict writable %C
      : (tensor<2x2xf32>, memref<2x2xf32, strided<[4, 1]>>) -> ()
  return
}

// -----

// A product that reads its result's memory as A needs a buffer, and a copy at the end. Its accumulator is copied in front.
// CHECK-LABEL: func.func @overlap(
//  CHECK-SAME:   %[[A:[a-z0-9]*]]: memref<2x2xf32> {tile.role = "inout"}
//       CHECK:   %[[T:.*]] = memref.alloc() : memref<2x2xf32>
//       CHECK:   {kernel = "overlap_0"
//       CHECK:   {kernel = "overlap_1"
//       CHECK: func.func @overlap_0(%[[A:.*]]: memref<2x2xf32>, %[[B:.*]]: memref<2x2xf32>, %[[C:.*]]: memref<2x2xf32>, %[[D:.*]]: memref<2x2xf32>)
//  CHECK-NEXT:   linalg.copy ins(%[[C]] : {{.*}}) outs(%[[D]] :
//  CHECK-NEXT:   linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[D]] :
//       CHECK: module @overlap_1 attributes {tile.note = "the old contents of the memory that a result is for are needed
//       CHECK:   attributes {tile.kind = "elementwise"}
func.func @overlap(%A: memref<2x2xf32>, %B: tensor<2x2xf32>, %C: tensor<2x2xf32>) {
  %a = bufferization.to_tensor %A restrict writable : memref<2x2xf32> to tensor<2x2xf32>
  %p = linalg.matmul {tile.kernel = 0 : i64}
      ins(%a, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%C : tensor<2x2xf32>) -> tensor<2x2xf32>
  bufferization.materialize_in_destination %p in restrict writable %A : (tensor<2x2xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

// Two kernels meet in a buffer of the program; a fill is a kernel of its own, elementwise.
// CHECK-LABEL: func.func @chain(
//       CHECK:   memref.alloc() : memref<2x2xf32>
//       CHECK:   {kernel = "chain_0"
//       CHECK:   {kernel = "chain_1"
//       CHECK:   {kernel = "chain_2"
//       CHECK: func.func @chain_0(
//       CHECK: func.func @chain_1(
//       CHECK: func.func @chain_2(%[[R:.*]]: memref<2x2xf32>) attributes {tile.kind = "elementwise"} {
//  CHECK-NEXT:   %[[ONE:.*]] = arith.constant 1.0
//  CHECK-NEXT:   linalg.generic {{.*}} outs(%[[R]] : memref<2x2xf32>) {
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     linalg.yield %[[ONE]]
func.func @chain(%A: tensor<2x2xf32>, %B: tensor<2x2xf32>, %C: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %p = linalg.matmul {tile.kernel = 0 : i64}
      ins(%A, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%C : tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = linalg.matmul {tile.kernel = 1 : i64}
      ins(%p, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%C : tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = linalg.fill {tile.kernel = 2 : i64} ins(%one : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %q, %f : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Reductions along rows make a kernel of rows, which takes what the function says of how rows are divided; an elementwise
// kernel does not.
// CHECK-LABEL: func.func @divided(
//       CHECK: module @divided_0
//       CHECK:   func.func @divided_0({{.*}}) attributes {tile.kind = "rows", tile.rows = {across = 32 : i64
//       CHECK: module @divided_1
//       CHECK:   func.func @divided_1({{.*}}) attributes {tile.kind = "elementwise"} {
func.func @divided(%A: tensor<4x6xf32>, %B: tensor<3x5xf32>) -> (tensor<4xf32>, tensor<3x5xf32>)
    attributes {tile.rows = {threads = 64 : i64, across = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<4x6xf32>) outs(%z : tensor<4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%B : tensor<3x5xf32>) outs(%f : tensor<3x5xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.absf %x : f32
    linalg.yield %r : f32
  } -> tensor<3x5xf32>
  return %s, %t : tensor<4xf32>, tensor<3x5xf32>
}
