// RUN: mlir-gemm opt %s mma-to-wgmma cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-wgmma mma-to-wgmma cse canonicalize | FileCheck %s

gpu.module @kernels {
// Words of A that lie along M come through registers: a thread's places in a panel are four, and 32 k of A are four
// instructions in two groups. Where a product is under way, each group waits for the one before it, whose registers it
// takes; that one product may be under way after it is two groups.
// CHECK-LABEL: @words(
//       CHECK:   %[[P0:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<3>
//       CHECK:   %[[P1:.*]] = llvm.inttoptr
//       CHECK:   %[[P2:.*]] = llvm.inttoptr
//       CHECK:   %[[P3:.*]] = llvm.inttoptr
//   CHECK-NOT:   wait.group
//       CHECK:   llvm.load %[[P0]] {alignment = 4 : i64} : !llvm.ptr<3> -> i32
//  CHECK-NEXT:   llvm.load %[[P1]]
//  CHECK-NEXT:   %[[Q2:.*]] = llvm.getelementptr %[[P2]][512]
//  CHECK-NEXT:   llvm.load %[[Q2]]
//       CHECK:   %[[HELD:.*]] = llvm.inline_asm has_side_effects "", "=r,=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6,7"
//       CHECK:   nvvm.wgmma.fence.aligned
//  CHECK-NEXT:   llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p, 1, 1; }", "=f,=f,=f,=f,r,r,r,r,l"
//       CHECK:   llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l"
//  CHECK-NEXT:   nvvm.wgmma.commit.group.sync.aligned
//   CHECK-NOT:   wait.group
//       CHECK:   nvvm.wgmma.commit.group.sync.aligned
//       CHECK:   scf.for
//       CHECK:     nvvm.wgmma.wait.group.sync.aligned 1
//  CHECK-NEXT:     llvm.load
//       CHECK:     nvvm.wgmma.commit.group.sync.aligned
//  CHECK-NEXT:     nvvm.wgmma.wait.group.sync.aligned 1
//       CHECK:     nvvm.wgmma.commit.group.sync.aligned
//  CHECK-NEXT:     nvvm.wgmma.wait.group.sync.aligned 2
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
gpu.func @words(%n: index, %C: memref<64x8xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<64x8xf32>
  %A = memref.alloc() {tile.layout = "swizzle128"} : memref<32x64xf32, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<8x32xf32, 3>
  %first = "tile.mma"(%A, %B, %zero) {a = "km", async, b = "nk", scope = "warpgroup"} : (memref<32x64xf32, 3>, memref<8x32xf32, 3>, vector<64x8xf32>) -> vector<64x8xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> (vector<64x8xf32>) {
    %more = "tile.mma"(%A, %B, %acc) {a = "km", async, b = "nk", scope = "warpgroup"} : (memref<32x64xf32, 3>, memref<8x32xf32, 3>, vector<64x8xf32>) -> vector<64x8xf32>
    %waited = "tile.mma_wait"(%more) {pending = 1 : i64} : (vector<64x8xf32>) -> vector<64x8xf32>
    scf.yield %waited : vector<64x8xf32>
  }
  %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x8xf32>) -> vector<64x8xf32>
  "tile.store"(%done, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x8xf32>, memref<64x8xf32>, index, index) -> ()
  gpu.return
}
}

gpu.module @more {
// Bytes are loaded as transposed matrices of 16 bits; of two words permutes make the four places of k of each row. A
// thread's two rows are neighbours.
// CHECK-LABEL: @bytes(
//       CHECK:   %[[HIGH:.*]] = arith.select %{{.*}}, %c30001_i32, %c12661_i32 : i32
//       CHECK:   %[[FOUR:.*]] = nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
//       CHECK:   %[[W0:.*]] = llvm.extractvalue %[[FOUR]][0]
//       CHECK:   %[[W1:.*]] = llvm.extractvalue %[[FOUR]][1]
//       CHECK:   llvm.inline_asm "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[W0]], %[[W1]], %{{.*}} : (i32, i32, i32) -> i32
//  CHECK-NEXT:   llvm.inline_asm "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[W0]], %[[W1]], %[[HIGH]]
//       CHECK:   wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p; }", "=r,=r,=r,=r,r,r,r,r,l"
gpu.func @bytes(%C: memref<64x8xi32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<64x8xi32>
  %A = memref.alloc() {tile.layout = "swizzle64"} : memref<128x64xi8, 3>
  %B = memref.alloc() {tile.layout = "swizzle128"} : memref<8x128xi8, 3>
  %sum = "tile.mma"(%A, %B, %zero) {a = "km", async, b = "nk", scope = "warpgroup", unsigned = "a"} : (memref<128x64xi8, 3>, memref<8x128xi8, 3>, vector<64x8xi32>) -> vector<64x8xi32>
  %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x8xi32>) -> vector<64x8xi32>
  "tile.store"(%done, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x8xi32>, memref<64x8xi32>, index, index) -> ()
  gpu.return
}
}
