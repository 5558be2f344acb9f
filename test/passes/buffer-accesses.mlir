// buffer-accesses: guarded loads and stores of global memory become accesses of AMD's buffers, which check bounds.
// RUN: mlir-gemm opt %s buffer-accesses | FileCheck %s
// RUN: mlir-gemm opt %s buffer-accesses buffer-accesses | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @guarded
  // CHECK-NOT: scf.if
  // CHECK: %[[ROW:.*]] = arith.index_castui %{{.*}} : index to i32
  // CHECK: %[[COLUMN:.*]] = arith.index_castui %{{.*}} : index to i32
  // CHECK: %[[BEYOND:.*]] = arith.constant 60 : i32
  // CHECK: %[[PLACE:.*]] = arith.select %[[INSIDE:.*]], %[[ROW]], %[[BEYOND]] : i32
  // CHECK: %[[LOADED:.*]] = amdgpu.raw_buffer_load %{{.*}}[%[[PLACE]], %[[COLUMN]]] : memref<60x64xf16>, i32, i32 -> vector<8xf16>
  // CHECK: amdgpu.raw_buffer_store %[[LOADED]] -> %{{.*}}[%{{.*}}, %{{.*}}] : vector<8xf16> -> memref<60x64xf16>, i32, i32
  gpu.func @guarded(%a: memref<60x64xf16>, %b: memref<60x64xf16>, %i: index, %j: index, %inside: i1) kernel {
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %x = scf.if %inside -> (vector<8xf16>) {
      %y = vector.load %a[%i, %j] : memref<60x64xf16>, vector<8xf16>
      scf.yield %y : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    scf.if %inside {
      vector.store %x, %b[%i, %j] : memref<60x64xf16>, vector<8xf16>
    }
    gpu.return
  }
}
