// What place-shared refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s place-shared 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'place-shared{storage=static limit=64}' 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not mlir-gemm opt --split-input-file %s 'place-shared{storage=heap}' 2>&1 | FileCheck %s --check-prefix=STORAGE

// STORAGE: error: pass 'place-shared': storage 'heap'; expected static, dynamic or auto

gpu.module @kernels {
  gpu.func @dynamic(%n: index) kernel {
    // CHECK: place-shared-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer of memref<?x8xf16, 3> in shared memory; expected constant sizes, whole bytes and dense rows
    %0 = memref.alloc(%n) : memref<?x8xf16, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bits() kernel {
    // CHECK: place-shared-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer of memref<8x8xi1, 3> in shared memory
    %0 = memref.alloc() : memref<8x8xi1, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @transposed() kernel {
    // CHECK: place-shared-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer of memref<8x4xf16, strided<[1, 8]>, 3> in shared memory
    %0 = memref.alloc() : memref<8x4xf16, strided<[1, 8]>, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @large() kernel {
    // STATIC: place-shared-refuses.mlir:[[# @LINE + 1]]:10: error: 128 bytes of shared memory cannot be static (at most 64); use storage=dynamic
    %0 = memref.alloc() : memref<8x8xf16, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK: place-shared-refuses.mlir:[[# @LINE + 1]]:3: error: a kernel of several basic blocks; expected structured control flow
  gpu.func @blocks() kernel {
    %0 = memref.alloc() : memref<8x8xf16, 3>
    cf.br ^next
  ^next:
    gpu.return
  }
}

// -----

// Memory other than shared is left alone.
// CHECK: gpu.func @private
// CHECK: memref.alloc
gpu.module @kernels {
  gpu.func @private() kernel {
    %0 = memref.alloc() : memref<8x8xf16>
    gpu.return
  }
}
