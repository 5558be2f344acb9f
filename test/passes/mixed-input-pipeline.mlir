// mixed-input-pipeline: the plain operand is copied two steps ahead, the computed one goes through registers one step
// ahead; one barrier a step, and the last step after the loop. A second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' mixed-input-pipeline mixed-input-pipeline --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'multi-buffer{stages=2}' mixed-input-pipeline --reading | FileCheck %s --check-prefix=TWO

// CHECK-LABEL: func.func @negated(
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 3x16x16xf16
//  CHECK-NEXT:   %[[BUFFER2:.*]] = memref.alloc() : shared 3x16x16xf16
//  CHECK-NEXT:   %[[VIEW:.*]] = %[[BUFFER]][0] : 16x16xf16
//  CHECK-NEXT:   %[[AT:.*]] = 0 * 16
//  CHECK-NEXT:   tile.copy_async %arg0[0, %[[AT]]] -> %[[VIEW]] : 16x16xf16
//  CHECK-NEXT:   tile.commit
//  CHECK-NEXT:   %[[VIEW2:.*]] = %[[BUFFER]][1] : 16x16xf16
//  CHECK-NEXT:   %[[AT2:.*]] = 1 * 16
//  CHECK-NEXT:   tile.copy_async %arg0[0, %[[AT2]]] -> %[[VIEW2]] : 16x16xf16
//  CHECK-NEXT:   tile.commit
//  CHECK-NEXT:   %[[AT3:.*]] = 0 * 16
//  CHECK-NEXT:   %[[LOADED:.*]] = tile.load %arg1[%[[AT3]], 0] : 16x16xf16
//  CHECK-NEXT:   %[[V:.*]] = arith.negf %[[LOADED]] : vector<16x16xf16>
//  CHECK-NEXT:   %[[VIEW3:.*]] = %[[BUFFER2]][0] : 16x16xf16
//  CHECK-NEXT:   tile.store %[[V]] -> %[[VIEW3]][0, 0] : 16x16xf16
//  CHECK-NEXT:   %[[LOOP:.*]]:3 = affine.for %arg3 = 0 to 3 iter_args(%arg4 = %arg2, %arg5 = 0, %arg6 = 2) -> (vector<16x16xf32>, index, index) {  // k
//  CHECK-NEXT:     %[[V2:.*]] = arith.cmpi eq, %arg5, 2 : index
//  CHECK-NEXT:     %[[V3:.*]] = arith.addi %arg5, 1 overflow<nsw, nuw> : index
//  CHECK-NEXT:     %[[V4:.*]] = arith.select %[[V2]], 0, %[[V3]] : index
//  CHECK-NEXT:     %[[AT4:.*]] = %arg3 + 1
//  CHECK-NEXT:     %[[AT5:.*]] = %[[AT4]] * 16
//  CHECK-NEXT:     %[[LOADED2:.*]] = tile.load %arg1[%[[AT5]], 0] : 16x16xf16
//  CHECK-NEXT:     tile.await {pending = 1}
//  CHECK-NEXT:     gpu.barrier
//  CHECK-NEXT:     %[[AT6:.*]] = %arg3 + 2
//  CHECK-NEXT:     %[[V5:.*]] = arith.cmpi ult, %[[AT6]], 4 : index
//  CHECK-NEXT:     scf.if %[[V5]] {
//  CHECK-NEXT:       %[[VIEW4:.*]] = %[[BUFFER]][%arg6] : 16x16xf16
//  CHECK-NEXT:       %[[AT7:.*]] = %[[AT6]] * 16
//  CHECK-NEXT:       tile.copy_async %arg0[0, %[[AT7]]] -> %[[VIEW4]] : 16x16xf16
//  CHECK-NEXT:     }
//  CHECK-NEXT:     tile.commit
//  CHECK-NEXT:     %[[VIEW5:.*]] = %[[BUFFER]][%arg5] : 16x16xf16
//  CHECK-NEXT:     %[[VIEW6:.*]] = %[[BUFFER2]][%arg5] : 16x16xf16
//  CHECK-NEXT:     %[[AT8:.*]] = %arg3 * 16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW5]][mk], %[[VIEW6]][kn], %arg4 : 16x16xf32
//  CHECK-NEXT:     %[[V6:.*]] = arith.negf %[[LOADED2]] : vector<16x16xf16>
//  CHECK-NEXT:     %[[VIEW7:.*]] = %[[BUFFER2]][%[[V4]]] : 16x16xf16
//  CHECK-NEXT:     tile.store %[[V6]] -> %[[VIEW7]][0, 0] : 16x16xf16
//  CHECK-NEXT:     affine.yield %[[SUM]], %[[V4]], %arg5 : vector<16x16xf32>, index, index
//  CHECK-NEXT:   }
//  CHECK-NEXT:   tile.await {pending = 0}
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   %[[VIEW8:.*]] = %[[BUFFER]][%[[LOOP]]#1] : 16x16xf16
//  CHECK-NEXT:   %[[VIEW9:.*]] = %[[BUFFER2]][%[[LOOP]]#1] : 16x16xf16
//  CHECK-NEXT:   %[[AT9:.*]] = 3 * 16
//  CHECK-NEXT:   %[[SUM2:.*]] = tile.mma %[[VIEW8]][mk], %[[VIEW9]][kn], %[[LOOP]]#0 : 16x16xf32
//  CHECK-NEXT:   return %[[SUM2]] : vector<16x16xf32>

// With two stages the copies and the stores of a step go to the same stage, of different buffers.
// TWO-LABEL: func.func @negated(
//       TWO:   affine.for %{{.*}} = 0 to 3 iter_args(%{{[a-z0-9]*}} = {{.*}}, %[[READ:.*]] = {{.*}}, %[[WRITE:.*]] = {{.*}}) ->
//   TWO-NOT:     arith.select
//       TWO:     tile.await {pending = 0}
//       TWO:     %{{.*}} = %{{.*}}[%[[WRITE]]] :
//       TWO:     tile.copy_async
//       TWO:     %{{.*}} = %{{.*}}[%[[WRITE]]] :
//       TWO:     tile.store
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
