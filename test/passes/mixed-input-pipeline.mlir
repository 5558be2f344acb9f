// mixed-input-pipeline: the plain operand is copied two steps ahead, the computed one goes through registers one step
// ahead; one barrier a step, and the last step after the loop. A second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' mixed-input-pipeline mixed-input-pipeline | FileCheck %s
// RUN: mlir-gemm opt %s 'multi-buffer{stages=2}' mixed-input-pipeline | FileCheck %s --check-prefix=TWO

// CHECK-LABEL: func.func @negated(
//       CHECK:   %[[A:.*]] = memref.alloc() : memref<3x16x16xf16, 3>
//       CHECK:   %[[B:.*]] = memref.alloc() : memref<3x16x16xf16, 3>
//       CHECK:   "tile.copy_async"
//       CHECK:   "tile.commit"
//       CHECK:   "tile.copy_async"
//       CHECK:   "tile.commit"
//   CHECK-NOT:   "tile.copy_async"
//       CHECK:   %[[FIRST:.*]] = "tile.load"
//       CHECK:   %[[NEGATED:.*]] = arith.negf %[[FIRST]]
//       CHECK:   "tile.store"(%[[NEGATED]]
//       CHECK:   affine.for %[[K:.*]] = 0 to 3 iter_args(%[[C:.*]] = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}})
//       CHECK:     %[[NEXT:.*]] = arith.select
//       CHECK:     %[[LOADED:.*]] = "tile.load"
//       CHECK:     "tile.await"() {pending = 1 : i64}
//  CHECK-NEXT:     gpu.barrier
//       CHECK:     scf.if
//       CHECK:       memref.subview %[[A]][%[[WRITE]], 0, 0]
//       CHECK:       "tile.copy_async"
//       CHECK:     "tile.commit"
//       CHECK:     %[[SA:.*]] = memref.subview %[[A]][%[[READ]], 0, 0]
//       CHECK:     %[[SB:.*]] = memref.subview %[[B]][%[[READ]], 0, 0]
//       CHECK:     "tile.mma"(%[[SA]], %[[SB]], %[[C]])
//       CHECK:     arith.negf %[[LOADED]]
//       CHECK:     %[[TO:.*]] = memref.subview %[[B]][%[[NEXT]], 0, 0]
//       CHECK:     "tile.store"(%{{.*}}, %[[TO]]
//   CHECK-NOT:     gpu.barrier
//       CHECK:     affine.yield %{{.*}}, %[[NEXT]], %[[READ]]
//       CHECK:   "tile.await"() {pending = 0 : i64}
//  CHECK-NEXT:   gpu.barrier
//       CHECK:   %[[LAST:.*]] = "tile.mma"
//       CHECK:   return %[[LAST]]

// With two stages the copies and the stores of a step go to the same stage, of different buffers.
// TWO-LABEL: func.func @negated(
//       TWO:   affine.for %{{.*}} = 0 to 3 iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}})
//   TWO-NOT:     arith.select
//       TWO:     "tile.await"() {pending = 0 : i64}
//       TWO:     memref.subview %{{.*}}[%[[WRITE]], 0, 0]
//       TWO:     "tile.copy_async"
//       TWO:     memref.subview %{{.*}}[%[[WRITE]], 0, 0]
//       TWO:     "tile.store"
//       TWO:     affine.yield %{{.*}}, %[[WRITE]], %[[READ]]
func.func @negated(%X: memref<16x64xf16>, %Y: memref<64x16xf16>, %v: vector<16x16xf32>) -> vector<16x16xf32> {
  %z = arith.constant 0 : index
  %A = memref.alloc() : memref<16x16xf16, 3>
  %B = memref.alloc() : memref<16x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %l = affine.apply affine_map<(k) -> (k * 16)>(%k)
    "tile.copy"(%A, %X, %z, %l) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x16xf16, 3>, memref<16x64xf16>, index, index) -> ()
    %y = "tile.load"(%Y, %l, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<64x16xf16>, index, index) -> vector<16x16xf16>
    %n = arith.negf %y : vector<16x16xf16>
    "tile.store"(%n, %B, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<16x16xf16>, memref<16x16xf16, 3>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return %s : vector<16x16xf32>
}
