// What distribute-copies refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s distribute-copies 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'distribute-copies{bits=7}' 2>&1 | FileCheck %s --check-prefix=BITS

// BITS: error: pass 'distribute-copies': bits=7; expected one of 8, 16, 32, 64, 128

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
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.copy': target is memref<16x?xf16, 3>; expected a memref of constant sizes
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x?xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bits(%A: memref<64x64xi4>, %buffer: memref<16x16xi4, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: a tile of memref<16x16xi4, 3>; expected constant sizes and numbers of whole bytes
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xi4, 3>, memref<64x64xi4>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @elements(%A: memref<64x64xf32>, %buffer: memref<16x16xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.copy': the elements of target and source are f16 and f32; expected one type
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<64x64xf32>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @broken(%A: memref<64x64xf16>, %buffer: memref<16x16xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.copy': dims = [0, 2] for a tile of 2 dimensions; expected each of 0 to 1 at most once, and -1 where the tile lies at one index
    "tile.copy"(%buffer, %A, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 2>, dims = array<i64: 0, 2>} : (memref<16x16xf16, 3>, memref<64x64xf16>, index, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @spread_out(%A: memref<64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tile = "tile.load"(%A, %i) {operandSegmentSizes = array<i32: 1, 1>} : (memref<64xf16>, index) -> vector<16x16xf16>
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:5: error: 'tile.store': moves vector<16x16xf16> along 1 dimension of memref<64xf16>; expected 2
    "tile.store"(%tile, %A, %i) {operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16x16xf16>, memref<64xf16>, index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @reduced(%A: memref<64x64xf16>, %i: index, %zero: vector<16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tile = "tile.load"(%A, %i, %i) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf16>, index, index) -> vector<16x16xf16>
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:13: error: 'vector.multi_reduction' on a block-wide tile; only loads, elementwise arithmetic and stores can be divided among threads
    %sums = vector.multi_reduction <add>, %tile, %zero [1] : vector<16x16xf16> to vector<16xf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carried(%A: memref<64x64xf16>, %buffer: memref<16x16xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile = "tile.load"(%A, %i, %i) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x64xf16>, index, index) -> vector<16x16xf16>
    // CHECK: distribute-copies-refuses.mlir:[[# @LINE + 1]]:15: error: 'scf.for' on a block-wide tile
    %result = scf.for %k = %c0 to %i step %c1 iter_args(%t = %tile) -> (vector<16x16xf16>) {
      "tile.store"(%t, %buffer, %c0, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
      scf.yield %t : vector<16x16xf16>
    }
    gpu.return
  }
}
