// share-shuffles: threads exchange numbers through shared memory instead of their registers.
// RUN: mlir-gemm opt %s share-shuffles | FileCheck %s
// RUN: mlir-gemm opt %s share-shuffles share-shuffles | FileCheck %s

// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<64xf32, #spirv.storage_class<Workgroup>>
// CHECK: %[[OWN:.*]] = gpu.thread_id x
// CHECK: %[[OTHER:.*]] = arith.xori %[[OWN]],
// CHECK: memref.store %{{.*}}, %[[BUFFER]][%[[OWN]]]
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %[[FOUND:.*]] = memref.load %[[BUFFER]][%[[OTHER]]]
// CHECK-NEXT: gpu.barrier
// CHECK: arith.addf %{{.*}}, %[[FOUND]]
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
}
