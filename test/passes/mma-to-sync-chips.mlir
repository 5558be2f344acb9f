// mma-to-sync with the instructions of sm_70 (8x8x4 on f16), sm_75 (16x8x8 on f16, 8x8x16 on bytes) and sm_89 (8-bit
// floats).
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-sync{instruction=8,8,4}' cse 2>&1 | FileCheck --check-prefix=QUADS %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-sync{instruction=16,8,8}' cse 2>&1 | FileCheck --check-prefix=EIGHT %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-sync{instruction=8,8,16}' cse 2>&1 | FileCheck --check-prefix=BYTES %s
// RUN: not mlir-gemm opt --split-input-file %s 'mma-to-sync{instruction=16,8,32}' cse 2>&1 | FileCheck --check-prefix=FLOATS %s

// What an instruction does not multiply is refused, and the other modules are lowered all the same.
// QUADS: error: mma.sync has no m8n8k4 for i8; supported: 16,8,32, 8,8,16
// QUADS: error: mma.sync has no m8n8k4 for f8E4M3FN; supported: 16,8,32
// EIGHT: error: mma.sync has no m16n8k8 for i8; supported: 16,8,32, 8,8,16
// BYTES: error: mma.sync has no m8n8k16 for f16; supported: 16,8,16, 16,8,8, 8,8,4
// FLOATS: error: a warp tile of (8, 8, 16); expected multiples of the instruction's (16, 8, 32)

// Four lanes and the four 16 further on multiply 8x8x4. A lane has four neighbours of A and of B, along k or across it
// as they lie, and two rows of the accumulator, two apart, with two neighbours in each half of 8 columns.
gpu.module @kernels {
// QUADS-LABEL: @half
// QUADS-SAME: %[[A:.*]]: memref<16x8xf16, 3>, %[[B:.*]]: memref<8x16xf16, 3>, %[[C:.*]]: memref<16x16xf32>
// QUADS: vector.load %[[A]][%{{.*}}, %c0] {alignment = 8 : i64} : memref<16x8xf16, 3>, vector<4xf16>
// QUADS: vector.load %[[B]][%[[K:.*]], %[[N:.*]]] {alignment = 8 : i64} : memref<8x16xf16, 3>, vector<4xf16>
// QUADS: vector.load %[[A]][%{{.*}}, %c4] {alignment = 8 : i64} : memref<16x8xf16, 3>, vector<4xf16>
// QUADS-COUNT-2: nvvm.mma.sync {{.*}}layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<row>{{.*}}m = 8, n = 8, k = 4
// QUADS-COUNT-4: vector.store %{{.*}}, %[[C]]{{.*}}vector<2xf32>
// QUADS-NOT: vector.store
// EIGHT-LABEL: @half
// EIGHT-COUNT-2: nvgpu.ldmatrix
// EIGHT: nvvm.mma.sync {{.*}}layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>{{.*}}m = 16, n = 8, k = 8
// EIGHT: nvvm.mma.sync
// EIGHT-NOT: nvvm.mma.sync
  gpu.func @half(%A: memref<16x8xf16, 3>, %B: memref<8x16xf16, 3>, %C: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x16xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<16x8xf16, 3>, memref<8x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf32>, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
// BYTES-LABEL: @bytes
// BYTES: nvgpu.ldmatrix %{{.*}} {numTiles = 2 : i32, transpose = false}
// BYTES: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}m = 8, n = 8, k = 16
// BYTES-NOT: nvvm.mma.sync
  gpu.func @bytes(%A: memref<8x16xi8, 3>, %B: memref<16x8xi8, 3>, %C: memref<8x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0> : vector<8x8xi32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn", scope = "warp"} : (memref<8x16xi8, 3>, memref<16x8xi8, 3>, vector<8x8xi32>) -> vector<8x8xi32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<8x8xi32>, memref<8x8xi32>, index, index) -> ()
    gpu.return
  }
}

// -----

// 8-bit floats along k are loaded by lanes, four at once; which format they have stands in the instruction.
gpu.module @kernels {
// FLOATS-LABEL: @floats
// FLOATS-COUNT-6: vector.load %{{.*}}, vector<4xf8E
// FLOATS: llvm.inline_asm has_side_effects "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"
  gpu.func @floats(%A: memref<16x32xf8E4M3FN, 3>, %B: memref<8x32xf8E5M2, 3>, %C: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "nk", scope = "warp"} : (memref<16x32xf8E4M3FN, 3>, memref<8x32xf8E5M2, 3>, vector<16x8xf32>) -> vector<16x8xf32>
    "tile.store"(%d, %C, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x8xf32>, memref<16x8xf32>, index, index) -> ()
    gpu.return
  }
}
