// free-accumulators has nothing to refuse: loops without multiply-adds, and sums of other types, stay as they are.
// RUN: mlir-gemm opt %s free-accumulators | FileCheck %s

// CHECK-LABEL: gpu.func @others
//   CHECK-NOT:   arith.xori
gpu.module @kernels {
  gpu.func @others(%a: vector<4xf32>, %b: vector<2xf64>, %out: memref<8xf32>, %wide: memref<2xf64>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %d = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> (vector<4xf32>) {
      %s = arith.addf %x, %a : vector<4xf32>
      scf.yield %s : vector<4xf32>
    }
    %e = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %b) -> (vector<2xf64>) {
      %s = vector.fma %b, %b, %x : vector<2xf64>
      scf.yield %s : vector<2xf64>
    }
    vector.store %d, %out[%c0] : memref<8xf32>, vector<4xf32>
    vector.store %e, %wide[%c0] : memref<2xf64>, vector<2xf64>
    gpu.return
  }
}
