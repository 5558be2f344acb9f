// What lower-cp-async refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s lower-cp-async 2>&1 | FileCheck %s

// A group that only some threads make, or none, is nothing to wait for.
gpu.module @kernels {
  gpu.func @wait(%some: i1) kernel {
    scf.if %some {
      "tile.commit"() : () -> ()
    } else {
      // CHECK: lower-cp-async-refuses.mlir:[[# @LINE + 1]]:7: error: tile.await with no tile.commit before it; there is nothing to wait for
      "tile.await"() {pending = 0 : i64} : () -> ()
    }
    gpu.return
  }
}
