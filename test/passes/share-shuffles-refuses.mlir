// What share-shuffles refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s share-shuffles 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @up(%x: f32, %n: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lanes = arith.constant 32 : i32
    // CHECK: share-shuffles-refuses.mlir:[[# @LINE + 1]]:22: error: gpu.shuffle in the mode #gpu<shuffle_mode up>; expected xor
    %other, %valid = gpu.shuffle up %x, %n, %lanes : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @branch(%x: f32, %n: i32, %bit: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lanes = arith.constant 32 : i32
    scf.if %bit {
      // CHECK: share-shuffles-refuses.mlir:[[# @LINE + 1]]:24: error: gpu.shuffle in 'scf.if', which not all threads of a block may reach together
      %other, %valid = gpu.shuffle xor %x, %n, %lanes : f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @narrow(%x: f32, %n: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lanes = arith.constant 16 : i32
    // CHECK: share-shuffles-refuses.mlir:[[# @LINE + 1]]:22: error: gpu.shuffle among a number of threads that is not 32
    %other, %valid = gpu.shuffle xor %x, %n, %lanes : f32
    gpu.return
  }
}
