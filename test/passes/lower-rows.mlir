// lower-rows: tiles of a kernel of rows become what each thread holds of them.
// RUN: mlir-gemm opt %s 'lower-rows{across=4 vector=2}' cse canonicalize | FileCheck %s

// Sixteen groups of four threads, a row each: a thread loads four times two neighbours, and has of what lies beyond the
// row's end what the maximum leaves as it is. Two exchanges combine what four threads have; the first of them stores.
// CHECK-LABEL: gpu.func @k(
//       CHECK:   %[[T:.*]] = gpu.thread_id x
//       CHECK:   %[[ROW:.*]] = arith.divui %[[T]], %c4
//       CHECK:   %[[PLACE:.*]] = arith.remui %[[T]], %c4
//       CHECK:   %[[AT:.*]] = arith.muli %[[PLACE]], %c2
//       CHECK:   vector.load %{{.*}}[%{{.*}}, %[[AT]]] {alignment = 8 : i64} : memref<14x30xf32>, vector<2xf32>
//       CHECK:   vector.load
//       CHECK:   vector.load
//       CHECK:   vector.load
//   CHECK-NOT:   vector.load
//       CHECK:   %[[MINE:.*]] = arith.select
//       CHECK:   arith.maximumf
//       CHECK:   %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[OWN:.*]], %c2_i32, %c32_i32 : f32
//       CHECK:   %[[PAIR:.*]] = arith.maximumf %[[OWN]], %[[OTHER]] : f32
//       CHECK:   %[[LAST:.*]], %{{.*}} = gpu.shuffle xor %[[PAIR]], %c1_i32, %c32_i32 : f32
//       CHECK:   %[[MOST:.*]] = arith.maximumf %[[PAIR]], %[[LAST]] : f32
//   CHECK-NOT:   gpu.barrier
//       CHECK:   arith.cmpi eq, %[[PLACE]], %c0
//       CHECK:   memref.store %[[MOST]], %{{.*}}[%[[ROW]]] : memref<14xf32>
module attributes {gpu.container_module} {
  func.func @f(%a: memref<14x30xf32>, %r: memref<14xf32>) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<14x30xf32>, %r : memref<14xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<14x30xf32>, %r: memref<14xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %end = arith.constant 30 : index
      %t = "tile.load"(%a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<14x30xf32>, index, index) -> vector<16x32xf32>
      %c = "tile.clip"(%t, %c0, %end) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<16x32xf32>, index, index) -> vector<16x32xf32>
      %s = "tile.reduce"(%c) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<16x32xf32>) -> vector<16x1xf32>
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16x1xf32>, memref<14xf32>, index) -> ()
      gpu.return
    }
  }
}
