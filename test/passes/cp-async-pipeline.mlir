// cp-async-pipeline: copies some steps ahead; a second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' cp-async-pipeline cp-async-pipeline cse --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'multi-buffer{stages=2}' cp-async-pipeline cse --reading | FileCheck %s --check-prefix=TWO
// RUN: mlir-gemm opt %s 'multi-buffer{stages=9}' cp-async-pipeline cse --reading | FileCheck %s --check-prefix=MANY

// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 3x16x32xf16 pad8
//  CHECK-NEXT:   %[[BUFFER2:.*]] = memref.alloc() : shared 3x32x16xf16
//  CHECK-NEXT:   %[[VIEW:.*]] = %[[BUFFER]][0] : 16x32xf16
//  CHECK-NEXT:   %[[AT:.*]] = 0 * 32
//  CHECK-NEXT:   tile.copy_async %arg0[0, %[[AT]]] -> %[[VIEW]] : 16x32xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:   %[[VIEW2:.*]] = %[[BUFFER2]][0] : 32x16xf16
//  CHECK-NEXT:   tile.copy_async %arg1[%[[AT]], 0] -> %[[VIEW2]] : 32x16xf16
//  CHECK-NEXT:   tile.commit
//  CHECK-NEXT:   %[[VIEW3:.*]] = %[[BUFFER]][1] : 16x32xf16
//  CHECK-NEXT:   %[[AT2:.*]] = 1 * 32
//  CHECK-NEXT:   tile.copy_async %arg0[0, %[[AT2]]] -> %[[VIEW3]] : 16x32xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:   %[[VIEW4:.*]] = %[[BUFFER2]][1] : 32x16xf16
//  CHECK-NEXT:   tile.copy_async %arg1[%[[AT2]], 0] -> %[[VIEW4]] : 32x16xf16
//  CHECK-NEXT:   tile.commit
//  CHECK-NEXT:   %[[LOOP:.*]]:3 = affine.for %arg3 = 0 to 4 iter_args(%arg4 = %arg2, %arg5 = 0, %arg6 = 2) -> (vector<16x16xf32>, index, index) {  // k
//  CHECK-NEXT:     tile.await {pending = 1}
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[AT3:.*]] = %arg3 + 2
//  CHECK-NEXT:     %[[V:.*]] = arith.cmpi ult, %[[AT3]], 4 : index
//  CHECK-NEXT:     scf.if %[[V]] {
//  CHECK-NEXT:       %[[VIEW5:.*]] = %[[BUFFER]][%arg6] : 16x32xf16
//  CHECK-NEXT:       %[[AT4:.*]] = %[[AT3]] * 32
//  CHECK-NEXT:       tile.copy_async %arg0[0, %[[AT4]]] -> %[[VIEW5]] : 16x32xf16 {in_bounds = [true, false]}
//  CHECK-NEXT:       %[[VIEW6:.*]] = %[[BUFFER2]][%arg6] : 32x16xf16
//  CHECK-NEXT:       tile.copy_async %arg1[%[[AT4]], 0] -> %[[VIEW6]] : 32x16xf16
//  CHECK-NEXT:     }
//  CHECK-NEXT:     tile.commit
//  CHECK-NEXT:     %[[VIEW7:.*]] = %[[BUFFER]][%arg5] : 16x32xf16
//  CHECK-NEXT:     %[[VIEW8:.*]] = %[[BUFFER2]][%arg5] : 32x16xf16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW7]][mk], %[[VIEW8]][kn], %arg4 : 16x16xf32
//  CHECK-NEXT:     %[[V2:.*]] = arith.cmpi eq, %arg5, 2 : index
//  CHECK-NEXT:     %[[V3:.*]] = arith.addi %arg5, 1 overflow<nsw, nuw> : index
//  CHECK-NEXT:     %[[V4:.*]] = arith.select %[[V2]], 0, %[[V3]] : index
//  CHECK-NEXT:     affine.yield %[[SUM]], %[[V4]], %arg5 : vector<16x16xf32>, index, index
//  CHECK-NEXT:   }
//  CHECK-NEXT:   tile.await {pending = 0}
//  CHECK-NEXT:   return %[[LOOP]]#0 : vector<16x16xf32>

// Two stages just change places.
// TWO-LABEL: func.func @product(
//       TWO:   affine.for {{.*}} iter_args(%[[ACC:.*]] = {{.*}}, %[[READ:.*]] = {{.*}}, %[[WRITE:.*]] = {{.*}})
//       TWO:     tile.await {pending = 0}
//       TWO:     affine.yield %{{.*}}, %[[WRITE]], %[[READ]]

// More stages than steps: everything is copied in front of the loop, and the groups are counted all the same.
// MANY-LABEL: func.func @product(
// MANY-COUNT-8: tile.copy_async
//   MANY-NOT:   tile.copy_async
//       MANY:   affine.for
//       MANY:     tile.await {pending = 7}
//  MANY-NEXT:     gpu.barrier
//  MANY-NEXT:     tile.commit
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
