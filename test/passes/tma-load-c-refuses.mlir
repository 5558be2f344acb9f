// tma-load-c refuses blocks that do not say how many warps they have, and roles without a ring. Loads that the copy engine
// cannot take, or whose place is known after the products only, stay as they are.
// RUN: not mlir-gemm opt --split-input-file %s tma-load-c 2>&1 | FileCheck %s

func.func @uncounted(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %D: memref<64x64xf32>, %R: memref<64x64xf32>) {
  // CHECK: tma-load-c-refuses.mlir:[[# @LINE + 1]]:3: error: blocks without 'tile.warps', by which distribute-warps says how many warps there are
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %r = "tile.load"(%R, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @ringless(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %D: memref<64x64xf32>, %R: memref<64x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    // CHECK: tma-load-c-refuses.mlir:[[# @LINE + 1]]:5: error: roles without a tile.ring before them, beside which C has one
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %r = "tile.load"(%R, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Rows of 8 bytes more than vectors of 16.
// CHECK-LABEL: func.func @unaligned(
//   CHECK-NOT:   tile.tma_load
//       CHECK: return
func.func @unaligned(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %D: memref<64x64xf32>, %R: memref<64x66xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %r = "tile.load"(%R, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x66xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// Rows that run down the tile.
// CHECK-LABEL: func.func @turned(
//   CHECK-NOT:   tile.tma_load
//       CHECK: return
func.func @turned(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %D: memref<64x64xf32>, %R: memref<64x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %r = "tile.load"(%R, %z, %z) {dims = array<i64: 1, 0>, operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// A row that memory tells.
// CHECK-LABEL: func.func @told(
//   CHECK-NOT:   tile.tma_load
//       CHECK: return
func.func @told(%A: memref<64x64xf16, 3>, %B: memref<64x64xf16, 3>, %D: memref<64x64xf32>, %R: memref<64x64xf32>, %I: memref<2xindex>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "mk", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf16, 3>, memref<64x64xf16, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %row = memref.load %I[%z] : memref<2xindex>
      %r = "tile.load"(%R, %row, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}

// -----

// A through registers.
// CHECK-LABEL: func.func @registers(
//   CHECK-NOT:   tile.tma_load
//       CHECK: return
func.func @registers(%A: memref<64x64xf32, 3>, %B: memref<64x64xf32, 3>, %D: memref<64x64xf32>, %R: memref<64x64xf32>) {
  scf.forall (%block) in (1) {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = memref.alloc() {tile.layout = "barriers"} : memref<2x2xi64, 3>
    "tile.ring"(%ring) {consumers = 4 : i64} : (memref<2x2xi64, 3>) -> ()
    "tile.warp_specialize"() ({
      %none = arith.constant 0 : index
    }, {
      %p = "tile.mma"(%A, %B, %zero) {a = "km", async, b = "kn", scope = "warpgroup"} : (memref<64x64xf32, 3>, memref<64x64xf32, 3>, vector<64x64xf32>) -> vector<64x64xf32>
      %sum = "tile.mma_wait"(%p) {pending = 0 : i64} : (vector<64x64xf32>) -> vector<64x64xf32>
      %r = "tile.load"(%R, %z, %z) {operandSegmentSizes = array<i32: 1, 2>, scope = "warpgroup"} : (memref<64x64xf32>, index, index) -> vector<64x64xf32>
      %out = arith.addf %sum, %r : vector<64x64xf32>
      "tile.store"(%out, %D, %z, %z) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warpgroup"} : (vector<64x64xf32>, memref<64x64xf32>, index, index) -> ()
    }) : () -> ()
  } {mapping = [#gpu.block<x>], tile.warps = 8 : i64}
  return
}
