// What linearize-memory refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s vulkan-interface 'linearize-memory{limit=64}' 2>&1 | FileCheck %s

gpu.module @kernels {
  memref.global "private" @bytes : memref<128xi8, 3> = uninitialized
  // CHECK: linearize-memory-refuses.mlir:[[# @LINE + 1]]:3: error: 128 bytes of shared memory; the chip has 64 for a workgroup (maxComputeSharedMemorySize): expected a smaller block or fewer stages
  gpu.func @large(%x: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %zero = arith.constant 0 : index
    %bytes = memref.get_global @bytes : memref<128xi8, 3>
    %shared = memref.view %bytes[%zero][] : memref<128xi8, 3> to memref<4x8xf32, 3>
    memref.store %x, %shared[%zero, %zero] : memref<4x8xf32, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: linearize-memory-refuses.mlir:[[# @LINE + 1]]:3: error: an access of memref<8xf32> from 'memref.alloca'; expected an argument or shared memory
  gpu.func @own(%x: f32) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %zero = arith.constant 0 : index
    %own = memref.alloca() : memref<8xf32>
    memref.store %x, %own[%zero] : memref<8xf32>
    gpu.return
  }
}
