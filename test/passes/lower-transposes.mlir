// lower-transposes: pairs of blocks of 16 x 16 bytes exchange their places, by ldmatrix, byte permutes and stmatrix.
// RUN: mlir-gemm opt %s lower-transposes cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s lower-transposes lower-transposes cse canonicalize | FileCheck %s

gpu.module @kernels {
// A warpgroup has a square to itself: eight pairs for each warp, four loaded before any is stored. The first stored word
// is that of an even row for half of the lanes, and that of an odd one for the others.
// CHECK-LABEL: @alone(
//       CHECK:   %[[EVEN:.*]] = arith.select %[[EARLY:.*]], %c25632_i32, %c8292_i32
//       CHECK:   %[[ODD:.*]] = arith.select %[[EARLY]], %c30001_i32, %c12661_i32
//       CHECK:   %[[FIRST:.*]] = arith.select %[[UPPER:.*]], %[[EVEN]], %[[ODD]]
//       CHECK:   %[[LAST:.*]] = arith.select %[[UPPER]], %[[ODD]], %[[EVEN]]
//       CHECK:   %[[FOUR:.*]] = nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
//       CHECK:   %[[W0:.*]] = llvm.extractvalue %[[FOUR]][0]
//       CHECK:   %[[W1:.*]] = llvm.extractvalue %[[FOUR]][1]
// CHECK-COUNT-3: nvvm.ldmatrix
//   CHECK-NOT:   nvvm.ldmatrix
//       CHECK:   %[[N0:.*]] = llvm.inline_asm "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[W0]], %[[W1]], %[[FIRST]]
//       CHECK:   %[[N1:.*]] = llvm.inline_asm "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[W0]], %[[W1]], %[[LAST]]
//       CHECK:   nvvm.stmatrix %{{.*}}, %[[N0]], %[[N1]], {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-3: nvvm.stmatrix
// CHECK-COUNT-4: nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.stmatrix
//   CHECK-NOT:   nvvm.ldmatrix
//       CHECK:   nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
//       CHECK:   nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
//   CHECK-NOT:   tile.transpose
gpu.func @alone() kernel attributes {gpu.known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<128x128xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 4 : i64} : (memref<128x128xi8, 3>) -> memref<128x128xi8, 3>
  %v = memref.subview %t[%c0, %c0] [64, 128] [1, 1] : memref<128x128xi8, 3> to memref<64x128xi8, strided<[128, 1], offset: ?>, 3>
  gpu.return
}

// Two that share a square have four pairs each, and wait for each other.
// CHECK-LABEL: @halves(
// CHECK-COUNT-4: nvvm.ldmatrix
//   CHECK-NOT:   nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.stmatrix
//       CHECK:   nvvm.barrier id = %c8_i32 number_of_threads = %c256_i32
gpu.func @halves() kernel attributes {gpu.known_block_size = array<i32: 384, 1, 1>} {
  %b = memref.alloc() {tile.layout = "swizzle128"} : memref<128x128xi8, 3>
  %t = "tile.transpose"(%b) {consumers = 8 : i64} : (memref<128x128xi8, 3>) -> memref<128x128xi8, 3>
  gpu.return
}
}
