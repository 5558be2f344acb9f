// share-shuffles: threads exchange numbers through shared memory instead of their registers.
// RUN: mlir-gemm opt %s share-shuffles | FileCheck %s
// RUN: mlir-gemm opt %s share-shuffles share-shuffles | FileCheck %s
// RUN: mlir-gemm opt %s 'share-shuffles{words=false}' 'number-subgroups{shuffles=true}' | FileCheck %s --check-prefix=WORDS

// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<64xf32, #spirv.storage_class<Workgroup>>
// CHECK: %[[OWN:.*]] = gpu.thread_id x
// CHECK: %[[OTHER:.*]] = arith.xori %[[OWN]],
// CHECK: memref.store %{{.*}}, %[[BUFFER]][%[[OWN]]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %[[FOUND:.*]] = memref.load %[[BUFFER]][%[[OTHER]]]
// CHECK-NEXT: gpu.barrier
// CHECK: arith.addf %{{.*}}, %[[FOUND]]

// A number of 32 bits stays with subgroups of 32 lanes; half of one goes through shared memory.
// WORDS: gpu.func @kernel
// WORDS-NOT: memref.alloc
// WORDS: gpu.shuffle xor %{{.*}} : f32
// WORDS: gpu.func @half
// WORDS: %[[BUFFER:.*]] = memref.alloc() : memref<32xf16, #spirv.storage_class<Workgroup>>
// WORDS: memref.store %{{.*}}, %[[BUFFER]]
gpu.module @kernels {
  gpu.func @kernel(%x: f32, %out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %four = arith.constant 4 : i32
    %lanes = arith.constant 32 : i32
    %zero = arith.constant 0 : index
    %other, %valid = gpu.shuffle xor %x, %four, %lanes : f32
    %sum = arith.addf %x, %other : f32
    memref.store %sum, %out[%zero] : memref<64xf32>
    gpu.return
  }

  gpu.func @half(%x: f16, %out: memref<32xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %four = arith.constant 4 : i32
    %lanes = arith.constant 32 : i32
    %zero = arith.constant 0 : index
    %other, %valid = gpu.shuffle xor %x, %four, %lanes : f16
    memref.store %other, %out[%zero] : memref<32xf16>
    gpu.return
  }
}
