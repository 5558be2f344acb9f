// lower-rows, where the blocks of a cluster share a row.
// RUN: mlir-gemm opt %s 'lower-rows{across=32 vector=4}' cse canonicalize | FileCheck %s

// The blocks say that they have started, and the first thread of each has made an mbarrier for what is to come. Then the
// first threads hand what their block has to both blocks, at the place of its rank; each block says how much is to come,
// waits until all of it has, and combines it in the order of the ranks.
// CHECK-LABEL: gpu.func @shared(
//       CHECK:   %[[M:.*]] = memref.alloc() {tile.layout = "barriers"} : memref<1x1xi64, 3>
//       CHECK:   scf.if
//       CHECK:     nvvm.mbarrier.init %[[P:.*]], %c1_i32
//       CHECK:     nvvm.fence.mbarrier.init
//       CHECK:   nvvm.cluster.arrive.relaxed
//       CHECK:   %[[S:.*]] = memref.alloc() : memref<1x1x2xi32, 3>
//       CHECK:   gpu.shuffle xor %{{.*}}, %c1_i32
//       CHECK:   %[[MINE:.*]] = arith.bitcast %{{.*}} : f32 to i32
//       CHECK:   nvvm.cluster.wait
//       CHECK:   nvvm.read.ptx.sreg.cluster.ctaid.x
//       CHECK:   scf.if
//       CHECK:     nvvm.mapa
//       CHECK:     llvm.inline_asm has_side_effects "st.async.weak.shared::cluster{{.*}}.b32 [$0], $1, [$2];", "l,r,l" %{{.*}}, %[[MINE]]
//   CHECK-NOT:     llvm.inline_asm
//       CHECK:   scf.if
//  CHECK-NEXT:     nvvm.mbarrier.arrive.expect_tx %[[P]], %c8_i32
//       CHECK:   nvvm.mbarrier.try_wait.parity %[[P]], %c0_i32
//       CHECK:   %[[A:.*]] = memref.load %[[S]][%c0, %{{.*}}, %c0]
//       CHECK:   %[[FIRST:.*]] = arith.bitcast %[[A]] : i32 to f32
//       CHECK:   %[[B:.*]] = memref.load %[[S]][%c0, %{{.*}}, %c1]
//       CHECK:   %[[SECOND:.*]] = arith.bitcast %[[B]] : i32 to f32
//       CHECK:   arith.addf %[[FIRST]], %[[SECOND]]
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
