// mma-to-sync: a 2:4 sparse A is multiplied by mma.sp, two for each word of metadata.
// RUN: mlir-gemm opt %s 'mma-to-sync{instruction=16,8,64}' | FileCheck %s

// The values by ldmatrix, half as many columns; the lane's word of 64 places of k by a load of two elements; of these
// the lanes 4 g and 4 g + 1 count for the first 32 places, and those after them for the others.
// CHECK-LABEL: gpu.func @product(
//   CHECK-NOT:   tile.sparse
//       CHECK:   %[[VALUES:.*]] = memref.subview %{{.*}}[%{{.*}}, %{{.*}}] [16, 32] [1, 1]
//       CHECK:   nvgpu.ldmatrix %[[VALUES]]{{.*}}numTiles = 4
//       CHECK:   %[[PAIR:.*]] = vector.load %{{.*}} : memref<2x64xf16, 3>, vector<2xf16>
//       CHECK:   %[[BITS:.*]] = vector.bitcast %[[PAIR]] : vector<2xf16> to vector<1xi32>
//       CHECK:   %[[WORD:.*]] = vector.extract %[[BITS]][0]
//       CHECK:   llvm.inline_asm has_side_effects "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9, $10, $11}, {$12, $13, $14, $15}, $16, 0;"
//  CHECK-SAME:   %[[WORD]] :
//       CHECK:   llvm.inline_asm has_side_effects "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{.*}}, $16, 1;"
//  CHECK-SAME:   %[[WORD]] :
//   CHECK-NOT:   tile.mma
gpu.module @kernels {
  gpu.func @product(%D: memref<32x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %v = memref.alloc() : memref<32x32xf16, 3>
    %e = memref.alloc() : memref<2x64xf16, 3>
    %b = memref.alloc() : memref<64x8xf16, 3>
    %a = "tile.sparse"(%v, %e) : (memref<32x32xf16, 3>, memref<2x64xf16, 3>) -> memref<32x64xf16, 3>
    %w = "tile.unit_id"() : () -> index
    %m = arith.muli %w, %c16 : index
    %rows = memref.subview %a[%m, 0] [16, 64] [1, 1] : memref<32x64xf16, 3> to memref<16x64xf16, strided<[64, 1], offset: ?>, 3>
    %0 = "tile.mma"(%rows, %b, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x64xf16, strided<[64, 1], offset: ?>, 3>, memref<64x8xf16, 3>, vector<16x8xf32>) -> vector<16x8xf32>
    "tile.store"(%0, %D, %m, %c0) {scope = "warp", operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x8xf32>, memref<32x8xf32>, index, index) -> ()
    gpu.return
  }
}
