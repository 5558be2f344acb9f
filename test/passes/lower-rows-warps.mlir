// lower-rows, where a row belongs to several warps.
// RUN: mlir-gemm opt %s 'lower-rows{across=64 vector=2}' cse canonicalize | FileCheck %s

// A row for two warps: what each has goes through shared memory, where both read it after a barrier.
// CHECK-LABEL: gpu.func @wide(
//       CHECK:   %[[S:.*]] = memref.alloc() : memref<1x2xf32, 3>
//       CHECK:   gpu.shuffle xor %{{.*}}, %c16_i32
//       CHECK:   gpu.shuffle xor %{{.*}}, %c1_i32
//       CHECK:   scf.if %{{.*}} {
//       CHECK:     memref.store %{{.*}}, %[[S]][%c0, %{{.*}}]
//       CHECK:   gpu.barrier
//       CHECK:   %[[P:.*]] = memref.load %[[S]][%c0, %{{.*}}]
//       CHECK:   gpu.shuffle xor %[[P]], %c1_i32
//   CHECK-NOT:   gpu.barrier
//       CHECK:   memref.store
module attributes {gpu.container_module} {
  func.func @f(%a: memref<1x128xf32>, %r: memref<1xf32>) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @m::@wide blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<1x128xf32>, %r : memref<1xf32>)
    return
  }
  gpu.module @m {
    gpu.func @wide(%a: memref<1x128xf32>, %r: memref<1xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %end = arith.constant 128 : index
      %t = "tile.load"(%a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<1x128xf32>, index, index) -> vector<1x128xf32>
      %c = "tile.clip"(%t, %c0, %end) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<1x128xf32>, index, index) -> vector<1x128xf32>
      %s = "tile.reduce"(%c) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<1x128xf32>) -> vector<1x1xf32>
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf32>, memref<1xf32>, index) -> ()
      gpu.return
    }
  }
}
