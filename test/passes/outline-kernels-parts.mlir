// outline-kernels: parts of one argument that are results.
// RUN: mlir-gemm opt %s outline-kernels | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>

// A part that is computed from another one: no kernel reads an argument at one place and writes it at another, so the
// second result is computed in a buffer, and copied.
// CHECK-LABEL: func.func @one_part_from_another(
//       CHECK:   memref.alloc() : memref<4x4xf32>
//       CHECK:   %[[FREE:.*]] = memref.extract_aligned_pointer_as_index %alloc
//       CHECK:   "tile.run"(%{{.*}}, %[[FREE]]) {kernel = "one_part_from_another_1"
//       CHECK:   "tile.run"({{.*}}) {kernel = "one_part_from_another_2"
func.func @one_part_from_another(%x: memref<4x4xf32>, %C: memref<8x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %tx = bufferization.to_tensor %x : memref<4x4xf32> to tensor<4x4xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%tx : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.absf %v : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %top = memref.subview %C[0, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  bufferization.materialize_in_destination %s in restrict writable %top : (tensor<4x4xf32>, memref<4x4xf32, strided<[4, 1]>>) -> ()
  %low = memref.subview %C[4, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 16>>
  bufferization.materialize_in_destination %t in restrict writable %low : (tensor<4x4xf32>, memref<4x4xf32, strided<[4, 1], offset: 16>>) -> ()
  return
}
