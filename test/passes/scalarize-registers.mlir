// scalarize-registers: vectors in registers become numbers, and what loops and branches carry becomes variables.
// RUN: mlir-gemm opt %s scalarize-registers | FileCheck %s
// RUN: mlir-gemm opt %s scalarize-registers scalarize-registers | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
// CHECK: memref.alloca() : memref<1xf32, #spirv.storage_class<Function>>
// CHECK: memref.alloca() : memref<1xf32, #spirv.storage_class<Function>>
// CHECK-NOT: vector
// The variables hold the initial value, also where no turn runs.
// CHECK: memref.store %{{.*}}, %[[FIRST:.*]][%{{.*}}] : memref<1xf32
// CHECK: memref.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: math.fma %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: memref.store
// CHECK: }
// CHECK: memref.load
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %n: index, %out: memref<1xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %start = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    %both = vector.broadcast %x : f32 to vector<2xf32>
    %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (vector<2xf32>) {
      %next = vector.fma %both, %both, %acc : vector<2xf32>
      scf.yield %next : vector<2xf32>
    }
    %last = vector.extract %sum[1] : f32 from vector<2xf32>
    memref.store %last, %out[%zero] : memref<1xf32>
    gpu.return
  }

  // Bits of a number of 64 bits are those of two of 32, and back.
  // CHECK-LABEL: gpu.func @bits(
  // CHECK: %[[PAIR:.*]] = spirv.Bitcast %{{.*}} : f64 to vector<2xi32>
  // CHECK: spirv.CompositeExtract %[[PAIR]][1 : i32]
  // CHECK: %[[BACK:.*]] = spirv.CompositeConstruct
  // CHECK: spirv.Bitcast %[[BACK]] : vector<2xi32> to f64
  gpu.func @bits(%x: f64, %out: memref<1xf64>) kernel {
    %zero = arith.constant 0 : index
    %v = vector.broadcast %x : f64 to vector<1xf64>
    %words = vector.bitcast %v : vector<1xf64> to vector<2xi32>
    %sum = arith.addi %words, %words : vector<2xi32>
    %w = vector.bitcast %sum : vector<2xi32> to vector<1xf64>
    %y = vector.extract %w[0] : f64 from vector<1xf64>
    memref.store %y, %out[%zero] : memref<1xf64>
    gpu.return
  }

  // Two bf16 of a word are its 16-bit integers: SPIR-V has no vectors of bf16.
  // CHECK-LABEL: gpu.func @halves(
  // CHECK: %[[PAIR:.*]] = spirv.Bitcast %{{.*}} : i32 to vector<2xi16>
  // CHECK: %[[BITS:.*]] = spirv.CompositeExtract %[[PAIR]][1 : i32]
  // CHECK: arith.bitcast %[[BITS]] : i16 to bf16
  gpu.func @halves(%x: i32, %out: memref<1xbf16>) kernel {
    %zero = arith.constant 0 : index
    %v = vector.broadcast %x : i32 to vector<1xi32>
    %pair = vector.bitcast %v : vector<1xi32> to vector<2xbf16>
    %y = vector.extract %pair[1] : bf16 from vector<2xbf16>
    memref.store %y, %out[%zero] : memref<1xbf16>
    gpu.return
  }
}
