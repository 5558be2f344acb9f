// lower-warp-specialize: tile.warp_specialize becomes a branch on the number of the warpgroup.
// RUN: mlir-gemm opt %s lower-warp-specialize | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: mlir-gemm opt %s 'lower-warp-specialize{producer=40 consumer=232}' lower-warp-specialize | FileCheck %s --check-prefixes=CHECK,MOVED
// RUN: mlir-gemm opt %s 'lower-warp-specialize{producer=40 consumer=232 apart=true}' | FileCheck %s --check-prefix=APART

// Two consumers are threads 0 .. 255; the producer is one thread of the first warp of the last 128.
// CHECK-LABEL: gpu.func @roles(
//       CHECK:   %[[OWN:.*]] = gpu.thread_id x
//       CHECK:   %[[THREAD:.*]] = gpu.thread_id x
//       CHECK:   %[[GROUP:.*]] = arith.divui %[[THREAD]], %c128
//       CHECK:   %[[LAST:.*]] = arith.cmpi eq, %[[GROUP]], %c2{{.*}} : index
//       CHECK:   scf.if %[[LAST]] {
//   PLAIN-NOT:     nvvm.setmaxregister
//  MOVED-NEXT:     nvvm.setmaxregister decrease 40
//       CHECK:     %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
//       CHECK:     %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c8{{.*}} : index
//  CHECK-NEXT:     scf.if %[[FIRST]] {
//  CHECK-NEXT:       %[[ONE:.*]] = nvvm.elect.sync -> i1
//  CHECK-NEXT:       scf.if %[[ONE]] {
//       CHECK:         memref.store %{{.*}}, %{{.*}}[%c0
//       CHECK:   } else {
//   PLAIN-NOT:     nvvm.setmaxregister
//  MOVED-NEXT:     nvvm.setmaxregister increase 232
//  CHECK-NEXT:     memref.store %[[OWN]]
//   CHECK-NOT:   tile.warp_specialize
//       CHECK:   gpu.return
gpu.module @kernels {
  gpu.func @roles(%out: memref<512xindex>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %thread = gpu.thread_id x
    "tile.warp_specialize"() ({
      %c0 = arith.constant 0 : index
      memref.store %c0, %out[%c0] : memref<512xindex>
    }, {
      memref.store %thread, %out[%thread] : memref<512xindex>
    }) : () -> ()
    gpu.return
  }

  // A barrier of the consumers is one of their 256 threads.
  // CHECK-LABEL: gpu.func @barrier(
  //       CHECK:   } else {
  //       CHECK:     nvvm.fence.proxy
  //       CHECK:     %[[NUMBER:.*]] = arith.index_cast %c8{{.*}} : index to i32
  //       CHECK:     %[[COUNT:.*]] = arith.index_cast %c256{{.*}} : index to i32
  //  CHECK-NEXT:     nvvm.barrier id = %[[NUMBER]] number_of_threads = %[[COUNT]]
  //   CHECK-NOT:     gpu.barrier
  gpu.func @barrier() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    "tile.warp_specialize"() ({
    ^bb0:
    }, {
      gpu.barrier
    }) : () -> ()
    gpu.return
  }

  // Both roles use the block's number; with `apart` the consumers have it in a register of their own.
  // APART-LABEL: gpu.func @number(
  //       APART:   %[[BLOCK:.*]] = gpu.block_id x
  //       APART:   memref.store %[[BLOCK]]
  //       APART:   nvvm.setmaxregister increase 232
  //       APART:   %[[NUMBER:.*]] = arith.index_castui %[[BLOCK]] : index to i64
  //       APART:   %[[SAME:.*]] = llvm.inline_asm {{.*}}"mov.b64 $0, $1;", "=l,l" %[[NUMBER]]
  //       APART:   %[[OWN:.*]] = arith.index_castui %[[SAME]] : i64 to index
  //       APART:   memref.store %[[OWN]], %{{.*}}[%[[OWN]]]
  gpu.func @number(%out: memref<512xindex>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %block = gpu.block_id x
    "tile.warp_specialize"() ({
      memref.store %block, %out[%block] : memref<512xindex>
    }, {
      memref.store %block, %out[%block] : memref<512xindex>
    }) : () -> ()
    gpu.return
  }
}
