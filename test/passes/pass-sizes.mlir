// pass-sizes hands a kernel addresses and sizes in the place of memrefs of dynamic sizes.
// RUN: mlir-gemm opt %s pass-sizes | FileCheck %s
// RUN: mlir-gemm opt %s pass-sizes gpu-kernel-outlining | FileCheck %s --check-prefix=KERNEL

// CHECK: func.func @scale(%[[A:.*]]: memref<?x?xf16>
// CHECK: %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK: gpu.launch
// The arithmetic on sizes is in the kernel; the second size is a multiple of 8 for sure.
// CHECK: %[[QUOTIENT:.*]] = arith.divui %[[OUTSIDE:.*]], %c8
// CHECK: %[[N:.*]] = arith.muli %[[QUOTIENT]], %c8
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}, %[[N]]], strides: [%[[N]], 1] : memref<1xf16> to memref<?x?xf16>
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [3], sizes: [%[[N]], 24], strides: [1, %[[N]]] : memref<1xf16> to memref<?x24xf16, strided<[1, ?], offset: 3>>
// KERNEL: gpu.launch_func @scale_kernel::@scale_kernel {{.*}} args(%{{.*}} : index, %{{.*}} : index, %{{.*}} : memref<1xf16>, %{{.*}} : memref<1xf16>)
func.func @scale(%A: memref<?x?xf16> {tile.symbols = ["s0", "s1"]},
                 %B: memref<?x24xf16, strided<[1, ?], offset: 3>> {tile.symbols = ["s1", ""], tile.strides = ["", "s1"]})
    attributes {tile.divisors = {s1 = 8 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %A, %c0 : memref<?x?xf16>
  %tiles = arith.divui %m, %c16 : index
  gpu.launch blocks(%x, %y, %z) in (%bx = %tiles, %by = %c1, %bz = %c1) threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %last = arith.subi %tiles, %c1 : index
    %row = arith.minui %x, %last : index
    %v = memref.load %A[%row, %tx] : memref<?x?xf16>
    memref.store %v, %B[%tx, %c0] : memref<?x24xf16, strided<[1, ?], offset: 3>>
    gpu.terminator
  }
  return
}

// CHECK: func.func @constant(
// CHECK-NOT: reinterpret_cast
func.func @constant(%A: memref<16x24xf16>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%bx = %c1, %by = %c1, %bz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %A[%x, %x] : memref<16x24xf16>
    gpu.terminator
  }
  return
}

// A place that sizes say, at which an argument starts, is computed in the kernel like its strides.
// CHECK: func.func @last(
// CHECK: gpu.launch
// CHECK: %[[EIGHTH:.*]] = arith.divui %{{.*}}, %c8
// CHECK: %[[LESS:.*]] = arith.muli %[[EIGHTH]], %c8
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[LESS]]], sizes: [%{{.*}}, 24], strides: [%{{.*}}, 1] : memref<1xf16> to memref<?x24xf16, strided<[?, 1], offset: ?>>
func.func @last(%X: memref<?x24xf16, strided<[?, 1], offset: ?>> {tile.offset = "24*(s1-1)", tile.strides = ["24*s1", ""], tile.symbols = ["s0", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %X, %c0 : memref<?x24xf16, strided<[?, 1], offset: ?>>
  gpu.launch blocks(%x, %y, %z) in (%bx = %m, %by = %c1, %bz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %X[%x, %tx] : memref<?x24xf16, strided<[?, 1], offset: ?>>
    memref.store %v, %X[%x, %c1] : memref<?x24xf16, strided<[?, 1], offset: ?>>
    gpu.terminator
  }
  return
}
