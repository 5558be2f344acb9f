// report-asserts: assertions of kernels are reported to the host, and what follows a failed one touches no memory.
// RUN: mlir-gemm opt %s report-asserts | FileCheck %s
// RUN: mlir-gemm opt %s report-asserts report-asserts | FileCheck %s
// RUN: mlir-gemm opt %s 'report-asserts{storage=CrossWorkgroup}' | FileCheck %s --check-prefix=OPENCL

// CHECK: gpu.func @gather(%[[TABLE:.*]]: memref<?xf32, {{.*}}>, %[[OUT:.*]]: memref<?xf32, {{.*}}>, %{{.*}}: index, %[[HOLDS:.*]]: i1, %[[TOLD:.*]]: memref<?xi32, #spirv.storage_class<StorageBuffer>>)
// CHECK: %[[FAILS:.*]] = arith.xori %[[HOLDS]]
// CHECK: scf.if %[[FAILS]] {
// CHECK: %[[NUMBER:.*]] = arith.constant 1 : i32
// CHECK: memref.store %[[NUMBER]], %[[TOLD]]
// CHECK: }
// CHECK: %[[PLACE:.*]] = arith.select %[[HOLDS]]
// CHECK: %[[FOUND:.*]] = memref.load %[[TABLE]][%[[PLACE]]]
// CHECK: gpu.barrier
// CHECK: scf.if %[[HOLDS]] {
// CHECK: memref.store %[[FOUND]], %[[OUT]]
// CHECK-NOT: cf.assert
// CHECK: func.func private @gather() attributes {{.*}}tile.asserts = ["index must be smaller than dim size"]
// OPENCL: #spirv.storage_class<CrossWorkgroup>>)
module {
  module {
    gpu.module @gather {
      gpu.func @gather(%table: memref<?xf32, #spirv.storage_class<StorageBuffer>>, %out: memref<?xf32, #spirv.storage_class<StorageBuffer>>, %place: index, %holds: i1) kernel {
        cf.assert %holds, "index must be smaller than dim size"
        %found = memref.load %table[%place] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
        gpu.barrier
        memref.store %found, %out[%place] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
        gpu.return
      }
    }
  }
  gpu.module @kernels {
    func.func private @gather() attributes {gpu.kernel}
  }
}
