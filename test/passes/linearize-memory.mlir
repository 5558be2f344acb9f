// linearize-memory: every access is of one element of a buffer of one dimension.
// RUN: mlir-gemm opt %s vulkan-interface linearize-memory | FileCheck %s
// RUN: mlir-gemm opt %s vulkan-interface linearize-memory linearize-memory | FileCheck %s

// CHECK: gpu.func @kernel(%[[A:.*]]: memref<?xf32,
// CHECK-NOT: memref.view
// CHECK: %[[SHARED:.*]] = memref.alloc() : memref<32xf32, #spirv.storage_class<Workgroup>>
// CHECK: arith.muli %{{.*}}, %{{.*}} : index
// CHECK: memref.load %[[A]][%{{.*}}]
// CHECK: memref.load %[[A]][%{{.*}}]
// CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK: vector.extract
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: memref.store %{{.*}}, %[[SHARED]]
gpu.module @kernels {
  memref.global "private" @bytes : memref<128xi8, 3> = uninitialized
  gpu.func @kernel(%a: memref<4x8xf32>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %bytes = memref.get_global @bytes : memref<128xi8, 3>
    %shared = memref.view %bytes[%zero][] : memref<128xi8, 3> to memref<4x8xf32, 3>
    %row = gpu.thread_id x
    %v = vector.load %a[%row, %two] : memref<4x8xf32>, vector<2xf32>
    vector.store %v, %shared[%row, %two] : memref<4x8xf32, 3>, vector<2xf32>
    gpu.return
  }
}
