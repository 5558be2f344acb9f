// allow-contraction: where all that is stored is rounded to 16 bits, products and sums of f32 may be one instruction;
// a second run changes nothing.
// RUN: mlir-gemm opt %s allow-contraction | FileCheck %s
// RUN: mlir-gemm opt %s allow-contraction allow-contraction | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
//       CHECK:   %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : vector<2xf32>
//       CHECK:   %[[S:.*]] = arith.addf %[[P]], %{{.*}} fastmath<contract> : vector<2xf32>
//       CHECK:   arith.subf %[[S]], %{{.*}} fastmath<contract> : vector<2xf32>
gpu.module @kernels {
  gpu.func @kernel(%x: vector<2xf32>, %y: vector<2xf32>, %out: memref<2xf16>, %sums: memref<2xf32, 3>) kernel {
    %zero = arith.constant 0 : index
    %p = arith.mulf %x, %y : vector<2xf32>
    %s = arith.addf %p, %y : vector<2xf32>
    %d = arith.subf %s, %x : vector<2xf32>
    vector.store %s, %sums[%zero] : memref<2xf32, 3>, vector<2xf32>
    %r = arith.truncf %d : vector<2xf32> to vector<2xf16>
    vector.store %r, %out[%zero] : memref<2xf16>, vector<2xf16>
    gpu.return
  }
}
