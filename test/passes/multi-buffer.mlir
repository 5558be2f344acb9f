// multi-buffer: staging buffers get several stages, used in turn; a second run changes nothing.
// RUN: mlir-gemm opt %s 'multi-buffer{stages=3}' 'multi-buffer{stages=3}' --reading | FileCheck %s
// RUN: mlir-gemm opt %s multi-buffer --reading | FileCheck %s --check-prefix=ONE

// CHECK-LABEL: func.func @product(
//  CHECK-NEXT:   %[[BUFFER:.*]] = memref.alloc() : shared 3x16x32xf16 pad8
//  CHECK-NEXT:   %[[BUFFER2:.*]] = memref.alloc() : shared 3x32x16xf16
//  CHECK-NEXT:   %[[LOOP:.*]] = affine.for %arg3 = 0 to 4 iter_args(%arg4 = %arg2) -> (vector<16x16xf32>) {  // k
//  CHECK-NEXT:     %[[AT:.*]] = %arg3 mod 3
//  CHECK-NEXT:     %[[VIEW:.*]] = %[[BUFFER]][%[[AT]]] : 16x32xf16
//  CHECK-NEXT:     %[[VIEW2:.*]] = %[[BUFFER2]][%[[AT]]] : 32x16xf16
//  CHECK-NEXT:     %[[AT2:.*]] = %arg3 * 32
//  CHECK-NEXT:     tile.copy %arg0[0, %[[AT2]]] -> %[[VIEW]] : 16x32xf16
//  CHECK-NEXT:     tile.copy %arg1[%[[AT2]], 0] -> %[[VIEW2]] : 32x16xf16
//  CHECK-NEXT:     %[[SUM:.*]] = tile.mma %[[VIEW]][mk], %[[VIEW2]][kn], %arg4 : 16x16xf32
//  CHECK-NEXT:     affine.yield %[[SUM]] : vector<16x16xf32>
//  CHECK-NEXT:   }

// With one stage nothing changes.
// ONE-LABEL: func.func @product(
//       ONE:   memref.alloc() : shared 16x32xf16 pad8
//   ONE-NOT:   mod
//       ONE:   return
func.func @product(%X: memref<16x128xf16>, %Y: memref<128x16xf16>, %v: vector<16x16xf32>) {
  %z = arith.constant 0 : index
  %A = memref.alloc() {tile.layout = "pad8"} : memref<16x32xf16, 3>
  %B = memref.alloc() : memref<32x16xf16, 3>
  %s = affine.for %k = 0 to 4 iter_args(%c = %v) -> vector<16x16xf32> {
    %l = affine.apply affine_map<(k) -> (k * 32)>(%k)
    "tile.copy"(%A, %X, %z, %l) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<16x32xf16, 3>, memref<16x128xf16>, index, index) -> ()
    "tile.copy"(%B, %Y, %l, %z) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<32x16xf16, 3>, memref<128x16xf16>, index, index) -> ()
    %d = "tile.mma"(%A, %B, %c) {a = "mk", b = "kn"} : (memref<16x32xf16, 3>, memref<32x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
    affine.yield %d : vector<16x16xf32>
  } {tile.loop = "k"}
  return
}
