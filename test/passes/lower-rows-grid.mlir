// lower-rows, where any blocks of the grid share a row.
// RUN: mlir-gemm opt %s 'lower-rows{across=64 vector=2}' cse canonicalize | FileCheck %s

// A block reads early which tag its word has: the next one goes with what it writes. The first warp reads the words of all
// three blocks until they have that tag, a lane each, and combines them; the others wait at the barrier.
// CHECK-LABEL: gpu.func @shared(
//       CHECK:   %[[RESULT:.*]] = memref.alloc() : memref<1xi32, 3>
//       CHECK:   %[[RANK:.*]] = arith.remui %block_id_x, %c3
//       CHECK:   %[[OLD:.*]] = llvm.load %[[WORD:.*]] atomic syncscope("device") monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
//       CHECK:   %[[UPPER:.*]] = arith.andi %[[OLD]], %c-4294967296_i64
//       CHECK:   %[[TAG:.*]] = arith.addi %[[UPPER]], %c4294967296_i64
//       CHECK:   vector.load
//       CHECK:   gpu.shuffle xor
//       CHECK:   gpu.barrier
//       CHECK:   scf.if
//       CHECK:     %[[BITS:.*]] = arith.extui %{{.*}} : i32 to i64
//       CHECK:     %[[TAGGED:.*]] = arith.ori %[[BITS]], %[[TAG]]
//       CHECK:     llvm.store %[[TAGGED]], %[[WORD]] atomic syncscope("device") monotonic {alignment = 8 : i64}
//       CHECK:   arith.cmpi ult, %thread_id_x, %c32
//       CHECK:   scf.if
//       CHECK:     arith.minui %thread_id_x, %c2
//       CHECK:     %[[FOUND:.*]] = scf.while : () -> i64 {
//       CHECK:       %[[READ:.*]] = llvm.load {{.*}} monotonic
//       CHECK:       %[[OTHER:.*]] = arith.xori %[[READ]], %[[TAG]]
//       CHECK:       %[[AGAIN:.*]] = arith.cmpi uge, %[[OTHER]], %c4294967296_i64
//       CHECK:       scf.condition(%[[AGAIN]]) %[[READ]]
//       CHECK:     arith.trunci %[[FOUND]] : i64 to i32
//       CHECK:     gpu.shuffle xor %{{.*}}, %c2_i32
//       CHECK:     arith.select
//       CHECK:     gpu.shuffle xor %{{.*}}, %c1_i32
//       CHECK:     scf.if
//       CHECK:       memref.store %{{.*}}, %[[RESULT]][%c0]
//       CHECK:   gpu.barrier
//       CHECK:   memref.load %[[RESULT]][%c0]
module attributes {gpu.container_module} {
  func.func @f(%a: memref<1x384xf32>, %r: memref<1xf32>) {
    %words = memref.alloc() {tile.scratch = "words"} : memref<1x3x1xi64>
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @m::@shared blocks in (%c3, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<1x384xf32>, %r : memref<1xf32>, %words : memref<1x3x1xi64>)
    return
  }
  gpu.module @m {
    gpu.func @shared(%a: memref<1x384xf32>, %r: memref<1xf32>, %words: memref<1x3x1xi64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, tile.cooperative = 3 : i64} {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %block = gpu.block_id x
      %rank = arith.remui %block, %c3 : index
      %c128 = arith.constant 128 : index
      %first = arith.muli %rank, %c128 : index
      %t = "tile.load"(%a, %c0, %first) {operandSegmentSizes = array<i32: 1, 2>} : (memref<1x384xf32>, index, index) -> vector<1x128xf32>
      %s = "tile.reduce"(%t) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<1x128xf32>) -> vector<1x1xf32>
      %g = "tile.grid_reduce"(%words, %c0, %rank, %s) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (memref<1x3x1xi64>, index, index, vector<1x1xf32>) -> vector<1x1xf32>
      "tile.store"(%g, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf32>, memref<1xf32>, index) -> ()
      gpu.return
    }
  }
}
