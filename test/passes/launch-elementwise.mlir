// launch-elementwise: a parallel loop over elements becomes a gpu.launch with a thread for each iteration.
// RUN: mlir-gemm opt %s launch-elementwise | FileCheck %s
// RUN: mlir-gemm opt %s launch-elementwise launch-elementwise | FileCheck %s
// RUN: mlir-gemm opt %s 'launch-elementwise{processors=8}' | FileCheck %s --check-prefix=SPREAD

// One thread for each of 6 x 10 iterations, the last loop fastest; those beyond 60 do nothing.
// CHECK-LABEL: func.func @ragged(
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in ({{.*}}) threads(%[[THREAD:.*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[B:.*]] = arith.index_castui %[[BLOCK]] : index to i32
// CHECK: %[[T:.*]] = arith.index_castui %[[THREAD]] : index to i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[B]], %{{.*}} : i32
// CHECK: %[[N:.*]] = arith.addi %[[FIRST]], %[[T]] : i32
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[N]], %{{.*}} : i32
// CHECK: scf.if %[[IN]] {
// CHECK: %[[COLUMN:.*]] = arith.remui %[[N]], %{{.*}} : i32
// CHECK: %[[ROW:.*]] = arith.divui %[[N]], %{{.*}} : i32
// CHECK: %[[J:.*]] = arith.index_castui %[[COLUMN]] : i32 to index
// CHECK: %[[I:.*]] = arith.index_castui %[[ROW]] : i32 to index
// CHECK: memref.load %arg0[%[[I]], %[[J]]]
// CHECK: gpu.terminator
// CHECK-NOT: scf.forall
func.func @ragged(%x: memref<6x10xf32>) attributes {tile.kind = "elementwise"} {
  scf.forall (%i, %j) in (6, 10) {
    %v = memref.load %x[%i, %j] : memref<6x10xf32>
    %n = arith.negf %v : f32
    memref.store %n, %x[%i, %j] : memref<6x10xf32>
  }
  return
}

// 512 iterations for 8 processors: 64 to a block.
// SPREAD-LABEL: func.func @whole(
// SPREAD: threads({{.*}}) in (%{{.*}} = %[[SIZE:.*]], %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// SPREAD: arith.constant 64 : i32
// CHECK-LABEL: func.func @whole(
// CHECK: gpu.launch
// CHECK-NOT: scf.if
// CHECK: memref.store
func.func @whole(%x: memref<512xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (512) {
    memref.store %zero, %x[%i] : memref<512xf32>
  }
  return
}

// Too many for 32 bits.
// CHECK-LABEL: func.func @huge(
// CHECK-NOT: i32
// CHECK: arith.cmpi ult, %{{.*}} : index
func.func @huge(%x: memref<3000000001xi8>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0 : i8
  scf.forall (%i) in (3000000001) {
    memref.store %zero, %x[%i] : memref<3000000001xi8>
  }
  return
}

// CHECK-LABEL: func.func @other(
// CHECK: scf.forall
func.func @other(%x: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    memref.store %zero, %x[%i] : memref<4xf32>
  }
  return
}
