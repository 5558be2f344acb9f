// cp-async-pipeline: copies some steps ahead; a second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' cp-async-pipeline cp-async-pipeline cse | FileCheck %s
// RUN: mlir-gemm opt %s 'multi-buffer{stages=2}' cp-async-pipeline cse | FileCheck %s --check-prefix=TWO
// RUN: mlir-gemm opt %s 'multi-buffer{stages=9}' cp-async-pipeline cse | FileCheck %s --check-prefix=MANY

// CHECK-LABEL: func.func @product(
//  CHECK-SAME: %[[X:.*]]: memref<16x128xf16>, %[[Y:.*]]: memref<128x16xf16>, %[[V:.*]]: vector<16x16xf32>
//       CHECK:   %[[A:.*]] = memref.alloc() {tile.layout = "pad8"} : memref<3x16x32xf16, 3>
//       CHECK:   %[[B:.*]] = memref.alloc() : memref<3x32x16xf16, 3>
//       CHECK:   memref.subview %[[A]][%c0{{.*}}, 0, 0]
//       CHECK:   "tile.copy_async"(%{{.*}}, %[[X]], {{.*}}in_bounds = array<i1: true, false>
//       CHECK:   "tile.copy_async"(%{{.*}}, %[[Y]], {{.*}}
//  CHECK-NEXT:   "tile.commit"
//       CHECK:   "tile.copy_async"(%{{.*}}, %[[X]],
//       CHECK:   "tile.copy_async"(%{{.*}}, %[[Y]],
//  CHECK-NEXT:   "tile.commit"
//       CHECK:   %[[LOOP:.*]]:3 = affine.for %[[K:.*]] = 0 to 4 iter_args(%[[ACC:.*]] = %[[V]], %[[READ:.*]] = %c0{{.*}}, %[[WRITE:.*]] = %c2{{.*}})
//       CHECK:     "tile.await"() {pending = 1 : i64}
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     %[[AHEAD:.*]] = affine.apply #{{.*}}(%[[K]])
//       CHECK:     %[[IS:.*]] = arith.cmpi ult, %[[AHEAD]], %c4
//       CHECK:     scf.if %[[IS]] {
//       CHECK:       %[[SA:.*]] = memref.subview %[[A]][%[[WRITE]], 0, 0]
//       CHECK:       %[[L:.*]] = affine.apply #{{.*}}(%[[AHEAD]])
//       CHECK:       "tile.copy_async"(%[[SA]], %[[X]], %{{.*}}, %[[L]])
//       CHECK:       %[[SB:.*]] = memref.subview %[[B]][%[[WRITE]], 0, 0]
//       CHECK:       "tile.copy_async"(%[[SB]], %[[Y]], %[[L]], %{{.*}})
//       CHECK:     }
//  CHECK-NEXT:     "tile.commit"
//       CHECK:     %[[RA:.*]] = memref.subview %[[A]][%[[READ]], 0, 0]
//       CHECK:     %[[RB:.*]] = memref.subview %[[B]][%[[READ]], 0, 0]
//       CHECK:     %[[D:.*]] = "tile.mma"(%[[RA]], %[[RB]], %[[ACC]])
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq, %[[READ]], %c2
//       CHECK:     %[[UP:.*]] = arith.addi %[[READ]], %c1
//       CHECK:     %[[NEXT:.*]] = arith.select %[[LAST]], %c0{{.*}}, %[[UP]]
//       CHECK:     affine.yield %[[D]], %[[NEXT]], %[[READ]]
//       CHECK:   } {tile.loop = "k"}
//  CHECK-NEXT:   "tile.await"() {pending = 0 : i64}
//  CHECK-NEXT:   return %[[LOOP]]#0

// Two stages just change places.
// TWO-LABEL: func.func @product(
//       TWO:   affine.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}})
//       TWO:     "tile.await"() {pending = 0 : i64}
//       TWO:     affine.yield %{{.*}}, %[[WRITE]], %[[READ]]

// More stages than steps: everything is copied in front of the loop, and the groups are counted all the same.
// MANY-LABEL: func.func @product(
// MANY-COUNT-8: "tile.copy_async"
//   MANY-NOT:   "tile.copy_async"
//       MANY:   affine.for
//       MANY:     "tile.await"() {pending = 7 : i64}
//  MANY-NEXT:     gpu.barrier
//  MANY-NEXT:     "tile.commit"
//   MANY-NOT:     scf.if
//       MANY:   return
func.func @product(%X: memref<16x128xf16>, %Y: memref<128x16xf16>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %A = memref.alloc() {tile.layout = "pad8"} : memref<16x32xf16, 3>
  %B = memref.alloc() : memref<32x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %l = affine.apply affine_map<(k) -> (k * 32)>(%k)
    "tile.copy"(%A, %X, %z, %l) {operandSegmentSizes = array<i32: 1, 1, 2>, in_bounds = array<i1: true, false>} : (memref<16x32xf16, 3>, memref<16x128xf16>, index, index) -> ()
    "tile.copy"(%B, %Y, %l, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x16xf16, 3>, memref<128x16xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x32xf16, 3>, memref<32x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}
