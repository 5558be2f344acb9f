// swizzle-accesses: the 16-byte chunks of a buffer's rows change places, against bank conflicts.
// RUN: mlir-gemm opt %s swizzle-accesses | FileCheck %s
// RUN: mlir-gemm opt %s swizzle-accesses swizzle-accesses | FileCheck %s

// Rows of 128 bytes, 8 chunks of 8 elements: the row's number modulo 8, times 8, goes into the column by XOR.
// CHECK-LABEL: @rows_of_128_bytes
// CHECK-SAME: %[[STAGE:[^:]*]]: index, %[[ROW:[^:]*]]: index, %[[COLUMN:[^:]*]]: index
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2x32x64xf16, 3>
// CHECK: %[[C7:.*]] = arith.constant 7 : index
// CHECK: %[[NUMBER:.*]] = arith.andi %[[ROW]], %[[C7]] : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[BITS:.*]] = arith.shli %[[NUMBER]], %[[C3]] : index
// CHECK: %[[MOVED:.*]] = arith.xori %[[COLUMN]], %[[BITS]] : index
// CHECK: vector.store %{{.*}}, %[[BUFFER]][%[[STAGE]], %[[ROW]], %[[MOVED]]] {alignment = 16 : i64}
// CHECK: vector.load %[[BUFFER]][%[[STAGE]], %[[ROW]], %{{.*}}] {alignment = 8 : i64}
// CHECK: arith.xori
// CHECK: nvgpu.ldmatrix %[[BUFFER]][%[[STAGE]], %[[ROW]], %{{.*}}]
// CHECK: arith.xori
// CHECK: nvgpu.device_async_copy %{{.*}}[%[[ROW]], %[[COLUMN]]], %[[BUFFER]][%[[STAGE]], %[[ROW]], %{{.*}}], 8
// CHECK: arith.xori
// CHECK: memref.load %[[BUFFER]]
// CHECK: arith.xori
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
func.func @rows_of_128_bytes(%stage: index, %row: index, %column: index, %v: vector<8xf16>, %m: memref<64x64xf16>) {
  %b = memref.alloc() {tile.layout = "xor"} : memref<2x32x64xf16, 3>
  vector.store %v, %b[%stage, %row, %column] {alignment = 16 : i64} : memref<2x32x64xf16, 3>, vector<8xf16>
  %w = vector.load %b[%stage, %row, %column] {alignment = 8 : i64} : memref<2x32x64xf16, 3>, vector<4xf16>
  %f = nvgpu.ldmatrix %b[%stage, %row, %column] {numTiles = 4 : i32, transpose = true} : memref<2x32x64xf16, 3> -> vector<4x2xf16>
  %t = nvgpu.device_async_copy %m[%row, %column], %b[%stage, %row, %column], 8 : memref<64x64xf16> to memref<2x32x64xf16, 3>
  %x = memref.load %b[%stage, %row, %column] : memref<2x32x64xf16, 3>
  memref.store %x, %b[%stage, %row, %column] : memref<2x32x64xf16, 3>
  return
}

// Rows of 64 bytes: row / 2 modulo 4. The attribute survives on the view that place-shared makes.
// CHECK-LABEL: @rows_of_64_bytes
// CHECK-SAME: %[[ROW:[^:]*]]: index
// CHECK: memref.view %{{.*}} : memref<8192xi8, 3> to memref<32x16xf32, 3>
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[PAIR:.*]] = arith.shrui %[[ROW]], %[[C1]] : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[NUMBER:.*]] = arith.andi %[[PAIR]], %[[C3]] : index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: arith.shli %[[NUMBER]], %[[C2]] : index
func.func @rows_of_64_bytes(%row: index, %s: memref<8192xi8, 3>) -> f32 {
  %z = arith.constant 0 : index
  %b = memref.view %s[%z][] {tile.layout = "xor"} : memref<8192xi8, 3> to memref<32x16xf32, 3>
  %x = memref.load %b[%row, %row] : memref<32x16xf32, 3>
  return %x : f32
}

// Rows of 32 bytes: row / 4 modulo 2; of 192 bytes: as of 64; of 48 bytes the chunks lie in different banks as they are.
// CHECK-LABEL: @others
// CHECK: arith.constant 2 : index
// CHECK: arith.shrui
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: arith.andi %{{.*}}, %[[C1]]
// CHECK: memref.load
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: arith.shrui %{{.*}}, %[[ONE]]
// CHECK: memref.load
// CHECK-NOT: arith.
// CHECK: memref.load
func.func @others(%i: index) -> (f16, f16, f16) {
  %a = memref.alloc() {tile.layout = "xor"} : memref<8x16xf16, 3>
  %b = memref.alloc() {tile.layout = "xor"} : memref<8x96xf16, 3>
  %c = memref.alloc() {tile.layout = "xor"} : memref<8x24xf16, 3>
  %x = memref.load %a[%i, %i] : memref<8x16xf16, 3>
  %y = memref.load %b[%i, %i] : memref<8x96xf16, 3>
  %z = memref.load %c[%i, %i] : memref<8x24xf16, 3>
  return %x, %y, %z : f16, f16, f16
}

// Other layouts are not this pass's.
// CHECK-LABEL: @padded
// CHECK: tile.layout = "pad8"
func.func @padded() {
  %a = memref.alloc() {tile.layout = "pad8"} : memref<8x16xf16, 3>
  return
}

// Panels that the copy engine fills become a row of elements, whose indices add what changes in a loop over stages, and
// constants, last. Addresses are taken of the buffer as it is.
// CHECK-LABEL: @one_panel
//  CHECK-SAME: %[[STAGE:.*]]: index, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index
//       CHECK:   %[[BUFFER:.*]] = memref.view {{.*}} : memref<16384xi8, 3> to memref<2x64x64xf16, 3>
//       CHECK:   %[[FLAT:.*]] = memref.view {{.*}} : memref<16384xi8, 3> to memref<8192xf16, 3>
//       CHECK:   memref.extract_aligned_pointer_as_index %[[BUFFER]]
//       CHECK:   %[[PANEL:.*]] = arith.divui %[[COLUMN]], %c64
//       CHECK:   %[[INSIDE:.*]] = arith.remui %[[COLUMN]], %c64
//       CHECK:   arith.andi %[[ROW]], %c7
//       CHECK:   %[[MOVED:.*]] = arith.xori %[[INSIDE]], %{{.*}}
//       CHECK:   %[[FIRST:.*]] = arith.muli %[[PANEL]], %c4096
//       CHECK:   %[[DOWN:.*]] = arith.muli %[[ROW]], %c64
//       CHECK:   %[[IN:.*]] = arith.addi %[[DOWN]], %[[MOVED]]
//       CHECK:   %[[OWN:.*]] = arith.addi %[[FIRST]], %[[IN]]
//       CHECK:   %[[AWAY:.*]] = arith.muli %[[STAGE]], %c4096
//       CHECK:   %[[SUM:.*]] = arith.addi %[[OWN]], %[[AWAY]]
//       CHECK:   %[[AT:.*]] = arith.addi %[[SUM]], %c1024
//       CHECK:   nvgpu.ldmatrix %[[FLAT]][%[[AT]]]
func.func @one_panel(%stage: index, %row: index, %column: index, %s: memref<16384xi8, 3>) -> (index, vector<4x2xf16>) {
  %z = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %b = memref.view %s[%z][] {tile.layout = "swizzle128"} : memref<16384xi8, 3> to memref<2x64x64xf16, 3>
  %at = memref.extract_aligned_pointer_as_index %b : memref<2x64x64xf16, 3> -> index
  %below = arith.addi %row, %c16 : index
  %x = nvgpu.ldmatrix %b[%stage, %below, %column] {numTiles = 4 : i32, transpose = false} : memref<2x64x64xf16, 3> -> vector<4x2xf16>
  return %at, %x : index, vector<4x2xf16>
}

// Rows that are no 8 further down have other chunks: nothing is taken apart. Panels of 64 bytes: row / 2 modulo 4.
// CHECK-LABEL: @panels
//  CHECK-SAME: %[[ROW:.*]]: index, %[[COLUMN:.*]]: index
//       CHECK:   %[[FLAT:.*]] = memref.view {{.*}} : memref<6144xi8, 3> to memref<3072xf16, 3>
//       CHECK:   %[[BELOW:.*]] = arith.addi %[[ROW]], %c4
//       CHECK:   %[[PANEL:.*]] = arith.divui %[[COLUMN]], %c32
//       CHECK:   %[[PAIR:.*]] = arith.shrui %[[BELOW]], %c1
//       CHECK:   arith.andi %[[PAIR]], %c3
//       CHECK:   arith.muli %[[PANEL]], %c1024
//       CHECK:   arith.muli %[[BELOW]], %c32
//       CHECK:   memref.load %[[FLAT]][
func.func @panels(%row: index, %column: index, %s: memref<6144xi8, 3>) -> f16 {
  %z = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %b = memref.view %s[%z][] {tile.layout = "swizzle64"} : memref<6144xi8, 3> to memref<32x96xf16, 3>
  %below = arith.addi %row, %c4 : index
  %x = memref.load %b[%below, %column] : memref<32x96xf16, 3>
  return %x : f16
}
