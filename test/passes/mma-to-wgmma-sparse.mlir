// mma-to-wgmma: a sparse A comes as its values, by a descriptor, and its metadata, in registers; a second run changes
// nothing.
// RUN: mlir-gemm opt %s mma-to-wgmma cse canonicalize | FileCheck %s
// RUN: mlir-gemm opt %s mma-to-wgmma mma-to-wgmma cse canonicalize | FileCheck %s

gpu.module @kernels {
// 64 of k are two instructions, each in a group of its own with the word of a lane loaded for it; the selector says whose
// words count. B runs along n, which the last operand says.
// CHECK-LABEL: @sparse(
//   CHECK-NOT:   tile.sparse
//   CHECK-NOT:   wait.group
//       CHECK:   llvm.load %[[PLACE:.*]] {alignment = 4 : i64} : !llvm.ptr<3> -> i32
//       CHECK:   llvm.inline_asm has_side_effects "", "=r,0"
//       CHECK:   nvvm.wgmma.fence.aligned
//  CHECK-NEXT:   llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, $8, $9, $10, 0, p, 1, 1, 0, 1; }", "=f,=f,=f,=f,=f,=f,=f,=f,l,l,r"
//  CHECK-NEXT:   nvvm.wgmma.commit.group.sync.aligned
//       CHECK:   llvm.load %[[PLACE]]
//       CHECK:   nvvm.wgmma.fence.aligned
//       CHECK:   wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16 {{.*}}, $16, $17, $18, 1, p, 1, 1, 0, 1; }"
//       CHECK:   nvvm.wgmma.commit.group.sync.aligned
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
gpu.func @sparse(%C: memref<64x16xf32>) kernel {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x16xf32>
  %V = memref.alloc() {tile.layout = "swizzle64"} : memref<128x32xf16, 3>
  %E = memref.alloc() {tile.layout = "swizzle128"} : memref<8x64xf16, 3>
  %B = memref.alloc() {tile.layout = "swizzle32"} : memref<64x16xf16, 3>
  %A = "tile.sparse"(%V, %E) : (memref<128x32xf16, 3>, memref<8x64xf16, 3>) -> memref<128x64xf16, 3>
  %rows = memref.subview %A[%c0, 0] [64, 64] [1, 1] : memref<128x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
  %sum = "tile.mma"(%rows, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, strided<[64, 1], offset: ?>, 3>, memref<64x16xf16, 3>, vector<64x16xf32>) -> vector<64x16xf32>
  %done = "tile.mma_wait"(%sum) {pending = 0 : i64} : (vector<64x16xf32>) -> vector<64x16xf32>
  "tile.store"(%done, %C, %c0, %c0) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x16xf32>, memref<64x16xf32>, index, index) -> ()
  gpu.return
}
}
