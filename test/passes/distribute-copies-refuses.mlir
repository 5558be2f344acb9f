// RUN: not mlir-gemm opt --split-input-file %s distribute-copies 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'distribute-copies{bits=7}' 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mlir-gemm opt --split-input-file %s 'distribute-copies{bits=8}' 2>&1 | FileCheck %s --check-prefix=NARROW

// BITS: error: pass 'distribute-copies': bits=7; expected one of 8, 16, 32, 64, 128

gpu.module @kernels {
  gpu.func @uneven(%A: memref<64x64xf16>, %buffer: memref<16x16xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // NARROW: distribute-copies-refuses.mlir:[[# @LINE + 2]]:5: error: elements of f16 in accesses of 8 bits; expected wider ones
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: a tile of 16x16 elements does not divide into vectors of 8 for 64 threads; take fewer threads, narrower vectors or a larger tile
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:3: error: a kernel without known_block_size; the number of its threads must be known
  gpu.func @unknown(%A: memref<64x64xf16>, %buffer: memref<16x16xf16, 3>, %i: index) kernel {
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @dynamic(%A: memref<64x64xf16>, %buffer: memref<16x?xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: a copy of memref<16x?xf16, 3>; expected a matrix of numbers of constant sizes
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x?xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @elements(%A: memref<64x64xf32>, %buffer: memref<16x16xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: memref<64x64xf32> at 2 offsets; expected a matrix of f16 and 2 offsets
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rows(%A: memref<64x64xf16>, %buffer: memref<16x16xf16, strided<[20, 1]>, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: memref<16x16xf16, strided<[20, 1]>, 3> in vectors of 128 bits; expected rows of consecutive elements, a constant multiple of that apart
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, strided<[20, 1]>, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @computed(%A: memref<64x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tile = "tile.load"(%A, %i, %i) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf16>, index, index) -> vector<16x16xf16>
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:10: error: 'arith.negf' on a block-wide tile; only a copy (tile.load, then tile.store) can be divided among threads
    %e = arith.negf %tile : vector<16x16xf16>
    gpu.return
  }
}
