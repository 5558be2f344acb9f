// lower-rows, where the blocks of a cluster share a row.
// RUN: mlir-gemm opt %s 'lower-rows{across=32 vector=4}' cse canonicalize | FileCheck %s

// The blocks say that they have started; then the first thread hands what its block has to each of both, at the place
// of its rank, and after they have met each block combines what it was handed, in the order of the ranks.
// CHECK-LABEL: gpu.func @shared(
//       CHECK:   nvvm.cluster.arrive
//       CHECK:   %[[S:.*]] = memref.alloc() : memref<1x1x2xf32, 3>
//       CHECK:   gpu.shuffle xor %{{.*}}, %c1_i32
//       CHECK:   nvvm.cluster.wait
//       CHECK:   nvvm.read.ptx.sreg.cluster.ctaid.x
//       CHECK:   scf.if
// CHECK-COUNT-2:     nvvm.mapa
//       CHECK:   nvvm.cluster.arrive
//       CHECK:   nvvm.cluster.wait
//       CHECK:   %[[A:.*]] = memref.load %[[S]][%c0, %{{.*}}, %c0]
//       CHECK:   %[[B:.*]] = memref.load %[[S]][%c0, %{{.*}}, %c1]
//       CHECK:   arith.addf %[[A]], %[[B]]
//   CHECK-NOT:   nvvm.cluster
//       CHECK:   memref.store
module attributes {gpu.container_module} {
  func.func @f(%a: memref<1x256xf32>, %r: memref<1xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@shared blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<1x256xf32>, %r : memref<1xf32>)
    return
  }
  gpu.module @m {
    gpu.func @shared(%a: memref<1x256xf32>, %r: memref<1xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %rank = "tile.rank"() : () -> index
      %c128 = arith.constant 128 : index
      %first = arith.muli %rank, %c128 : index
      %t = "tile.load"(%a, %c0, %first) {operandSegmentSizes = array<i32: 1, 2>} : (memref<1x256xf32>, index, index) -> vector<1x128xf32>
      %s = "tile.reduce"(%t) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, cluster = 2 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<1x128xf32>) -> vector<1x1xf32>
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf32>, memref<1xf32>, index) -> ()
      gpu.return
    }
  }
}
