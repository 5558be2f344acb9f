// What lower-mbarrier-pipeline refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s lower-mbarrier-pipeline 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @no_map(%A: memref<64x64xf16>, %slot: index) kernel {
    %S = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    // CHECK: lower-mbarrier-pipeline-refuses.mlir:[[# @LINE + 1]]:5: error: a copy by the copy engine without a tensor map; create-tensor-maps makes it
    "tile.tma_load"(%S, %A, %bars, %slot, %slot, %slot) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @across(%map: !llvm.ptr, %slot: index) kernel {
    %S = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    // CHECK: lower-mbarrier-pipeline-refuses.mlir:[[# @LINE + 1]]:5: error: a tile along the dimensions (1, 0) of the memory; expected rows, then columns
    "tile.tma_load"(%S, %map, %bars, %slot, %slot, %slot) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @panel(%map: !llvm.ptr, %slot: index) kernel {
    %S = memref.alloc() {tile.layout = "swizzle128"} : memref<64x32xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    // CHECK: lower-mbarrier-pipeline-refuses.mlir:[[# @LINE + 1]]:5: error: a tile of 64 x 32 elements; expected whole panels of 64 columns, and at most 256 rows or a multiple of 8
    "tile.tma_load"(%S, %map, %bars, %slot, %slot, %slot) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x32xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @layout(%map: !llvm.ptr, %slot: index) kernel {
    // CHECK: lower-mbarrier-pipeline-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer without the layout swizzle128, swizzle64 or swizzle32; the copy engine and wgmma need it here
    %S = memref.alloc() : memref<64x64xf16, 3>
    %bars = memref.alloc() {tile.layout = "barriers"} : memref<2x1xi64, 3>
    "tile.tma_load"(%S, %map, %bars, %slot, %slot, %slot) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, !llvm.ptr, memref<2x1xi64, 3>, index, index, index) -> ()
    gpu.return
  }
}
