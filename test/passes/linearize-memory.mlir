// linearize-memory: every access is of one element of a buffer of one dimension.
// RUN: mlir-gemm opt --split-input-file %s vulkan-interface linearize-memory | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s vulkan-interface linearize-memory linearize-memory | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s vulkan-interface 'linearize-memory{width=element}' | FileCheck %s --check-prefix=ELEMENT

// Nothing is known of the addresses: single numbers.
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

// -----

// Aligned vectors of f16 are words of two; where a buffer is read by fewer as well, its words are fewer.
// CHECK: gpu.func @vectors(%[[A:.*]]: memref<?xvector<4xi32>, {{.*}}>
// CHECK: %[[SHARED:.*]] = memref.alloc() : memref<8xvector<2xi32>, #spirv.storage_class<Workgroup>>
// CHECK: %[[WHOLE:.*]] = memref.load %[[A]][%{{.*}}]
// CHECK: %[[FIRST:.*]] = spirv.CompositeExtract %[[WHOLE]][0 : i32] : vector<4xi32>
// CHECK: %[[PAIR:.*]] = spirv.Bitcast %{{.*}} : i32 to vector<2xf16>
// CHECK: spirv.CompositeExtract %[[PAIR]][0 : i32] : vector<2xf16>
// CHECK: vector.from_elements {{.*}} : vector<8xf16>
// CHECK: spirv.CompositeConstruct {{.*}} : (i32, i32) -> vector<2xi32>
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: memref.load %[[SHARED]]
// ELEMENT: gpu.func @vectors(%[[A:.*]]: memref<?xf16, {{.*}}>
// ELEMENT-COUNT-8: memref.load %[[A]]
gpu.module @others {
  memref.global "private" @bytes : memref<64xi8, 3> = uninitialized
  gpu.func @vectors(%a: memref<4x8xf16>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %zero = arith.constant 0 : index
    %bytes = memref.get_global @bytes : memref<64xi8, 3>
    %shared = memref.view %bytes[%zero][] : memref<64xi8, 3> to memref<4x8xf16, 3>
    %row = gpu.thread_id x
    %v = vector.load %a[%row, %zero] {alignment = 16 : i64} : memref<4x8xf16>, vector<8xf16>
    vector.store %v, %shared[%row, %zero] {alignment = 16 : i64} : memref<4x8xf16, 3>, vector<8xf16>
    gpu.barrier
    %w = vector.load %shared[%zero, %zero] {alignment = 8 : i64} : memref<4x8xf16, 3>, vector<4xf16>
    vector.store %w, %shared[%row, %zero] {alignment = 8 : i64} : memref<4x8xf16, 3>, vector<4xf16>
    gpu.return
  }
}

// -----

// A cooperative matrix is loaded from units as well: 16 rows, two units apart.
// CHECK: gpu.func @matrix(%[[A:.*]]: memref<?xvector<4xi32>, {{.*}}>
// CHECK: gpu.subgroup_mma_load_matrix %[[A]][%{{.*}}] {leadDimension = 2 : index}
gpu.module @matrices {
  gpu.func @matrix(%a: memref<16x16xf16>, %c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : index
    %n = arith.constant 0.0 : f32
    %f = gpu.subgroup_mma_load_matrix %a[%zero, %zero] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %g = gpu.subgroup_mma_load_matrix %a[%zero, %zero] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %s = gpu.subgroup_mma_constant_matrix %n : !gpu.mma_matrix<16x16xf32, "COp">
    %d = gpu.subgroup_mma_compute %f, %g, %s : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %d, %c[%zero, %zero] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>
    gpu.return
  }
}

// -----

// What is read as one line is the same buffer.
// CHECK: gpu.func @line(%[[A:[a-z0-9]+]]: memref<?xf32, {{.*}}>
// CHECK-NOT: collapse_shape
// CHECK: memref.load %[[A]][%{{.*}}]
gpu.module @kernels {
  gpu.func @line(%a: memref<4x7xf32>, %out: memref<4xf32>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %row = gpu.thread_id x
    %line = memref.collapse_shape %a [[0, 1]] : memref<4x7xf32> into memref<28xf32>
    %v = memref.load %line[%row] : memref<28xf32>
    memref.store %v, %out[%row] : memref<4xf32>
    gpu.return
  }
}
