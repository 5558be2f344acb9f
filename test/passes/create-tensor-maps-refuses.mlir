// What create-tensor-maps refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s create-tensor-maps 2>&1 | FileCheck %s

func.func @apart(%A: memref<64x64xf16, strided<[128, 2]>>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<64x64xf16, strided<[128, 2]>>: its last dimension is not contiguous
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16, strided<[128, 2]>>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @rows(%A: memref<64x100xf16>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<64x100xf16>: its rows do not start at multiples of 16 bytes
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x100xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @start(%A: memref<64x64xf16, strided<[64, 1], offset: 4>>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<64x64xf16, strided<[64, 1], offset: 4>>: its rows do not start at multiples of 16 bytes
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16, strided<[64, 1], offset: 4>>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @dynamic(%A: memref<?x?xf16>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<?x?xf16>: its rows do not start at multiples of 16 bytes
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<?x?xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @dimensions(%A: memref<2x2x2x2x64x64xf16>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<2x2x2x2x64x64xf16>: 6 dimensions; it takes 1 to 5
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z, %z, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 6>} : (memref<64x64xf16, 3>, memref<2x2x2x2x64x64xf16>, memref<2x1xi64, 3>, index, index, index, index, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @across(%A: memref<64x64xf16>, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: a tile along the dimensions (1, 0) of the memory; expected rows, then columns
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @inside(%S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    %A = memref.alloc() : memref<64x64xf16>
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: a copy of memory that is made inside the loop over blocks has no tensor map
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<64x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @odd(%A: memref<512x64xf16>, %S: memref<260x64xf16, 3>, %bars: memref<2x1xi64, 3>) {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: a tile of 260 rows; more than 256 must be a multiple of 8
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<260x64xf16, 3>, memref<512x64xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @divided(%A: memref<?x?xf16> {tile.symbols = ["s0", "s1"]}, %S: memref<64x64xf16, 3>, %bars: memref<2x1xi64, 3>) attributes {tile.divisors = {s0 = 8 : i64, s1 = 4 : i64}} {
  scf.forall (%block) in (4) {
    %z = arith.constant 0 : index
    // CHECK: create-tensor-maps-refuses.mlir:[[# @LINE + 1]]:5: error: the copy engine cannot move memref<?x?xf16>: its rows do not start at multiples of 16 bytes
    "tile.tma_load"(%S, %A, %bars, %z, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (memref<64x64xf16, 3>, memref<?x?xf16>, memref<2x1xi64, 3>, index, index, index) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
