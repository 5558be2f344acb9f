// sink-positions has nothing to refuse.
// RUN: mlir-gemm opt %s sink-positions | FileCheck %s

// It refuses nothing: without products there is nothing to do.
// CHECK-LABEL: gpu.func @plain
// CHECK: arith.addi
// CHECK-NEXT: gpu.barrier
gpu.module @kernels {
  gpu.func @plain(%n: index, %m: memref<64xindex>) kernel {
    %c0 = arith.constant 0 : index
    %more = arith.addi %n, %n : index
    gpu.barrier
    memref.store %more, %m[%c0] : memref<64xindex>
    gpu.return
  }
}
