// create-tensor-maps: the copy engine gets a tensor map for each memory and box; a second run changes nothing.
// RUN: mlir-gemm opt %s create-tensor-maps --reading | FileCheck %s
// RUN: mlir-gemm opt %s create-tensor-maps create-tensor-maps --reading | FileCheck %s
// RUN: mlir-gemm opt %s 'create-tensor-maps{tf32=true}' --reading | FileCheck %s --check-prefix=ROUNDED

// A panel is 128 bytes: 64 columns of f16. A box has the rows of the tile, or of an equal part of it where they are more
// than 256, and 1 along other dimensions.
// CHECK-LABEL: func.func @copies(
//  CHECK-NEXT:   %[[V:.*]] = tile.tensor_map %arg0 {box = [1, 256, 64], swizzle = 128}
//  CHECK-NEXT:   %[[V2:.*]] = tile.tensor_map %arg0 {box = [1, 192, 64], swizzle = 128}
//  CHECK-NEXT:   %[[V3:.*]] = tile.tensor_map %arg0 {box = [1, 64, 64], swizzle = 128}
//  CHECK-NEXT:   %[[V4:.*]] = tile.tensor_map %arg1 {box = [64, 64], swizzle = 128}
// A box of a store is a panel of its buffer.
//  CHECK-NEXT:   %[[V5:.*]] = tile.tensor_map %arg2 {box = [64, 32], swizzle = 128}
//  CHECK-NEXT:   scf.forall (%arg3) in (4) {
//  CHECK-NEXT:     %[[V6:.*]] = arith.constant dense<0.000000e+00> : vector<64x128xf32>
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 512x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 384x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 64x128xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER4:.*]] = memref.alloc() : shared 64x128xbf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER5:.*]] = memref.alloc() : shared 2x64x32xf32 swizzle128
//  CHECK-NEXT:     %[[BUFFER6:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.tma_load %[[V]][%arg3, 0, 0] -> %[[BUFFER]], %[[BUFFER6]][0] : 512x64xf16
//  CHECK-NEXT:     tile.tma_load %[[V]][%arg3, 0, 0] -> %[[BUFFER]], %[[BUFFER6]][0] : 512x64xf16
//  CHECK-NEXT:     tile.tma_load %[[V2]][%arg3, 0, 0] -> %[[BUFFER2]], %[[BUFFER6]][0] : 384x64xf16
//  CHECK-NEXT:     tile.tma_load %[[V3]][%arg3, 0, 0] -> %[[BUFFER3]], %[[BUFFER6]][0] : 64x128xf16
//  CHECK-NEXT:     tile.tma_load %[[V4]][0, 0] -> %[[BUFFER4]], %[[BUFFER6]][0] : 64x128xbf16
//  CHECK-NEXT:     tile.tma_store %[[V6]] -> %[[V5]][0, 0], through %[[BUFFER5]] : 64x128xf32 {scope = warpgroup}
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>]}
func.func @copies(%A: memref<4x512x256xf16>, %B: memref<256x512xbf16, strided<[1024, 1]>>, %D: memref<512x512xf32>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %v = arith.constant dense<0.0> : vector<64x128xf32>
    %tall = memref.alloc() {tile.layout = "swizzle128"} : memref<512x64xf16, 3>
    %parts = memref.alloc() {tile.layout = "swizzle128"} : memref<384x64xf16, 3>
    %low = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xf16, 3>
    %wide = memref.alloc() {tile.layout = "swizzle128"} : memref<64x128xbf16, 3>
    %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x32xf32, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.tma_load"(%tall, %A, %bars, %z, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 3>} : (memref<512x64xf16, 3>, memref<4x512x256xf16>, memref<2x1xi64, 3>, index, index, index, index) -> ()
    "tile.tma_load"(%tall, %A, %bars, %z, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 3>} : (memref<512x64xf16, 3>, memref<4x512x256xf16>, memref<2x1xi64, 3>, index, index, index, index) -> ()
    "tile.tma_load"(%parts, %A, %bars, %z, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 3>} : (memref<384x64xf16, 3>, memref<4x512x256xf16>, memref<2x1xi64, 3>, index, index, index, index) -> ()
    "tile.tma_load"(%low, %A, %bars, %z, %block, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 3>} : (memref<64x128xf16, 3>, memref<4x512x256xf16>, memref<2x1xi64, 3>, index, index, index, index) -> ()
    "tile.tma_load"(%wide, %B, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x128xbf16, 3>, memref<256x512xbf16, strided<[1024, 1]>>, memref<2x1xi64, 3>, index, index, index) -> ()
    "tile.tma_store"(%v, %D, %staging, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf32>, memref<512x512xf32>, memref<2x64x32xf32, 3>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Narrower panels are boxes of as many bytes: one of 64 bytes for each 32 columns, of which the tile has three.
// CHECK-LABEL: func.func @narrow(
//  CHECK-NEXT:   %[[V:.*]] = tile.tensor_map %arg0 {box = [64, 32], swizzle = 64}
//  CHECK-NEXT:   %[[V2:.*]] = tile.tensor_map %arg0 {box = [64, 16], swizzle = 32}
//  CHECK-NEXT:   scf.forall (%arg1) in (4) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x96xf16 swizzle64
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 64x16xf16 swizzle32
//  CHECK-NEXT:     %[[BUFFER3:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     %[[VIEW:.*]] = %[[BUFFER]][1] : 64x96xf16
//  CHECK-NEXT:     tile.tma_load %[[V]][0, 0] -> %[[VIEW]], %[[BUFFER3]][0] : 64x96xf16
//  CHECK-NEXT:     tile.tma_load %[[V2]][0, 0] -> %[[BUFFER2]], %[[BUFFER3]][0] : 64x16xf16
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>]}
func.func @narrow(%A: memref<512x96xf16>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %half = memref.alloc() {tile.layout = "swizzle64"} : memref<2x64x96xf16, 3>
    %quarter = memref.alloc() {tile.layout = "swizzle32"} : memref<64x16xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    %stage = memref.subview %half[1, 0, 0] [1, 64, 96] [1, 1, 1] : memref<2x64x96xf16, 3> to memref<64x96xf16, strided<[96, 1], offset: 6144>, 3>
    "tile.tma_load"(%stage, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x96xf16, strided<[96, 1], offset: 6144>, 3>, memref<512x96xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
    "tile.tma_load"(%quarter, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x16xf16, 3>, memref<512x96xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// What is copied in may be rounded on the way; what is stored stays as it is.
//  ROUNDED-LABEL: func.func @rounded(
//    ROUNDED-DAG:   tile.tensor_map %{{.*}} {box = [64, 32], element = tf32, swizzle = 128}
//    ROUNDED-DAG:   tile.tensor_map %{{.*}} {box = [64, 32], swizzle = 128}
//        ROUNDED:   return
func.func @rounded(%A: memref<64x256xf32>, %D: memref<64x512xf32>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %v = arith.constant dense<0.0> : vector<64x128xf32>
    %a = memref.alloc() {tile.layout = "swizzle128"} : memref<64x32xf32, 3>
    %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x32xf32, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.tma_load"(%a, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x32xf32, 3>, memref<64x256xf32>, memref<2x1xi64, 3>, index, index, index) -> ()
    "tile.tma_store"(%v, %D, %staging, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf32>, memref<64x512xf32>, memref<2x64x32xf32, 3>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// Rows of sizes known at run time only are aligned where what divides the sizes says so.
// CHECK-LABEL: func.func @divided(
//  CHECK-NEXT:   %[[V:.*]] = tile.tensor_map %arg0 {box = [64, 64], swizzle = 128}
//  CHECK-NEXT:   scf.forall (%arg1) in (4) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 64x64xf16 swizzle128
//  CHECK-NEXT:     %[[BUFFER2:.*]] = memref.alloc() : shared 2x1xi64
//  CHECK-NEXT:     tile.tma_load %[[V]][0, 0] -> %[[BUFFER]], %[[BUFFER2]][0] : 64x64xf16
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>]}
func.func @divided(%A: memref<?x?xf16> {tile.symbols = ["s0", "s1"]}) attributes {tile.divisors = {s1 = 8 : i64}} {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %a = memref.alloc() {tile.layout = "swizzle128"} : memref<64x64xf16, 3>
    %bars = memref.alloc() : memref<2x1xi64, 3>
    "tile.tma_load"(%a, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<?x?xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// A map hides that the memory behind it is stored to: loads from that memory say so.
// CHECK-LABEL: func.func @added(
//  CHECK-NEXT:   %[[V:.*]] = tile.tensor_map %arg1 {box = [64, 32], swizzle = 128}
//  CHECK-NEXT:   scf.forall (%arg2) in (4) {
//  CHECK-NEXT:     %[[BUFFER:.*]] = memref.alloc() : shared 2x64x32xf32 swizzle128
//  CHECK-NEXT:     %[[LOADED:.*]] = tile.load %arg1[0, 0] : 64x128xf32 {scope = warpgroup, written}
//  CHECK-NEXT:     %[[LOADED2:.*]] = tile.load %arg0[0, 0] : 64x128xf32 {scope = warpgroup}
//  CHECK-NEXT:     %[[V2:.*]] = arith.addf %[[LOADED]], %[[LOADED2]] : vector<64x128xf32>
//  CHECK-NEXT:     tile.tma_store %[[V2]] -> %[[V]][0, 0], through %[[BUFFER]] : 64x128xf32 {scope = warpgroup}
//  CHECK-NEXT:   } {mapping = [#gpu.block<x>]}
func.func @added(%C: memref<512x512xf32>, %D: memref<512x512xf32>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %staging = memref.alloc() {tile.layout = "swizzle128"} : memref<2x64x32xf32, 3>
    %c = "tile.load"(%D, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<512x512xf32>, index, index) -> vector<64x128xf32>
    %d = "tile.load"(%C, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<512x512xf32>, index, index) -> vector<64x128xf32>
    %e = arith.addf %c, %d : vector<64x128xf32>
    "tile.tma_store"(%e, %D, %staging, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 2>, scope = "warpgroup"} : (vector<64x128xf32>, memref<512x512xf32>, memref<2x64x32xf32, 3>, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
