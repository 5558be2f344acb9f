// extend-bf16: bf16 become f32 two at a time, by a shift and a mask; a second run changes nothing.
// RUN: mlir-gemm opt %s extend-bf16 | FileCheck %s
// RUN: mlir-gemm opt %s extend-bf16 extend-bf16 | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
//  CHECK-SAME:   %[[V:.*]]: vector<4xbf16>
//       CHECK:   %[[WORDS:.*]] = vector.bitcast %[[V]] : vector<4xbf16> to vector<2xi32>
//   CHECK-DAG:   %[[BY:.*]] = arith.constant dense<16> : vector<2xi32>
//   CHECK-DAG:   %[[MASK:.*]] = arith.constant dense<-65536> : vector<2xi32>
//       CHECK:   %[[UP:.*]] = arith.shli %[[WORDS]], %[[BY]] : vector<2xi32>
//       CHECK:   %[[LOWER:.*]] = arith.bitcast %[[UP]] : vector<2xi32> to vector<2xf32>
//       CHECK:   %[[HIGH:.*]] = arith.andi %[[WORDS]], %[[MASK]] : vector<2xi32>
//       CHECK:   %[[UPPER:.*]] = arith.bitcast %[[HIGH]] : vector<2xi32> to vector<2xf32>
//       CHECK:   %[[ALL:.*]] = vector.shuffle %[[LOWER]], %[[UPPER]] [0, 2, 1, 3] : vector<2xf32>, vector<2xf32>
//   CHECK-NOT:   arith.extf
//       CHECK:   memref.store %[[ALL]]
gpu.module @kernels {
  gpu.func @kernel(%v: vector<4xbf16>, %out: memref<1xvector<4xf32>>) kernel {
    %zero = arith.constant 0 : index
    %f = arith.extf %v : vector<4xbf16> to vector<4xf32>
    memref.store %f, %out[%zero] : memref<1xvector<4xf32>>
    gpu.return
  }
}
