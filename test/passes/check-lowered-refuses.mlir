// What check-lowered refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s check-lowered 2>&1 | FileCheck %s

gpu.module @kernels {
  gpu.func @unit() kernel {
    // CHECK: check-lowered-refuses.mlir:[[# @LINE + 1]]:10: error: 'tile.unit_id' is left after lowering; no pass of this schedule handles it here
    %0 = "tile.unit_id"() : () -> index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @alloc(%c0: index, %c1: index) kernel {
    scf.for %i = %c0 to %c1 step %c1 {
      // CHECK: check-lowered-refuses.mlir:[[# @LINE + 1]]:12: error: a buffer is allocated in the kernel; expected shared memory at its top level
      %0 = memref.alloc() : memref<8xf16, 3>
    }
    gpu.return
  }
}

// -----

gpu.module @more {
  memref.global "private" @chunks : memref<1024xi8, 3>
  gpu.func @layout(%c0: index) kernel {
    %0 = memref.get_global @chunks : memref<1024xi8, 3>
    // CHECK: check-lowered-refuses.mlir:[[# @LINE + 1]]:10: error: a buffer of the layout "xor" is left; no pass of this schedule lays it out
    %1 = memref.view %0[%c0][] {tile.layout = "xor"} : memref<1024xi8, 3> to memref<8x64xf16, 3>
    gpu.return
  }
}
