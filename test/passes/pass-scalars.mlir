// pass-scalars: numbers are loaded in front of the launch, and are parameters of the kernel; a second run changes nothing.
// RUN: mlir-gemm opt %s pass-scalars | FileCheck %s
// RUN: mlir-gemm opt %s pass-scalars pass-scalars | FileCheck %s

// CHECK-LABEL: func.func @scaled(
//  CHECK-SAME:   %[[A:.*]]: memref<f32> {tile.role = "in", tile.scalar}, %[[B:.*]]: memref<i1> {tile.role = "in", tile.scalar}, %[[X:.*]]: memref<8xf32>
//       CHECK:   %[[NUMBER:.*]] = memref.load %[[A]][] : memref<f32>
//       CHECK:   %[[BIT:.*]] = memref.load %[[B]][] : memref<i1>
//       CHECK:   %[[BYTE:.*]] = arith.extui %[[BIT]] : i1 to i8
//       CHECK:   gpu.launch_func @scaled_kernel::@scaled_kernel {{.*}} args(%[[NUMBER]] : f32, %[[BYTE]] : i8, %[[X]] : memref<8xf32>)
//       CHECK:   gpu.func @scaled_kernel(%[[P:.*]]: f32, %[[Q:.*]]: i8, %[[Y:.*]]: memref<8xf32>) kernel
//       CHECK:     %[[C:.*]] = arith.trunci %[[Q]] : i8 to i1
//       CHECK:     %[[S:.*]] = arith.select %[[C]], %[[P]], %{{.*}} : f32
//       CHECK:     memref.store %[[S]], %[[Y]]
module attributes {gpu.container_module} {
  func.func @scaled(%a: memref<f32> {tile.role = "in", tile.scalar}, %b: memref<i1> {tile.role = "in", tile.scalar}, %x: memref<8xf32> {tile.role = "out"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @scaled_kernel::@scaled_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<f32>, %b : memref<i1>, %x : memref<8xf32>)
    return
  }
  gpu.module @scaled_kernel {
    gpu.func @scaled_kernel(%a: memref<f32>, %b: memref<i1>, %x: memref<8xf32>) kernel {
      %z = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %n = memref.load %a[] : memref<f32>
      %c = memref.load %b[] : memref<i1>
      %s = arith.select %c, %n, %z : f32
      memref.store %s, %x[%t] : memref<8xf32>
      gpu.return
    }
  }
}
