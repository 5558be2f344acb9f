// What unswitch-rows refuses, and loops that it leaves as they are: each stands once.
// RUN: not mlir-gemm opt %s 'unswitch-rows{most=0}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mlir-gemm opt --split-input-file %s unswitch-rows | FileCheck %s

// NONE: error: pass 'unswitch-rows{most=0}': expected one loop or more

// Weights that are loaded from multiples of a vector on.
// CHECK-LABEL: gpu.func @k(
//   CHECK-NOT:   scf.if
//       CHECK:   scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   gpu.return
module attributes {gpu.container_module} {
  func.func @f(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%c9, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<9x321xf16>, %w : memref<321xf16>, %r : memref<9x321xf16>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %end = arith.constant 321 : index
      %row = gpu.block_id x
      %back = arith.remui %row, %c8 : index
      %start = arith.subi %c0, %back : index
      %stop = arith.addi %back, %end : index
      scf.for %at = %c0 to %stop step %c256 {
        %place = arith.addi %at, %start : index
        %x = "tile.load"(%a, %row, %place) {aligned = 8 : i64, beyond, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 2>} : (memref<9x321xf16>, index, index) -> vector<1x256xf16>
        %y = "tile.load"(%w, %at) {operandSegmentSizes = array<i32: 1, 1>} : (memref<321xf16>, index) -> vector<1x256xf16>
        %z = arith.mulf %x, %y : vector<1x256xf16>
        "tile.store"(%z, %r, %row, %place) {aligned = 8 : i64, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<1x256xf16>, memref<9x321xf16>, index, index) -> ()
      }
      gpu.return
    }
  }
}

// -----

// Eight places between multiples of 16 elements are more loops than the pass makes.
// CHECK-LABEL: gpu.func @k(
//   CHECK-NOT:   scf.if
//       CHECK:   scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   gpu.return
module attributes {gpu.container_module} {
  func.func @f(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%c9, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<9x321xf16>, %w : memref<321xf16>, %r : memref<9x321xf16>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 16 : index
      %c256 = arith.constant 256 : index
      %end = arith.constant 321 : index
      %row = gpu.block_id x
      %back = arith.remui %row, %c8 : index
      %start = arith.subi %c0, %back : index
      %stop = arith.addi %back, %end : index
      scf.for %at = %c0 to %stop step %c256 {
        %place = arith.addi %at, %start : index
        %x = "tile.load"(%a, %row, %place) {aligned = 16 : i64, beyond, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 2>} : (memref<9x321xf16>, index, index) -> vector<1x256xf16>
        %y = "tile.load"(%w, %place) {operandSegmentSizes = array<i32: 1, 1>} : (memref<321xf16>, index) -> vector<1x256xf16>
        %z = arith.mulf %x, %y : vector<1x256xf16>
        "tile.store"(%z, %r, %row, %place) {aligned = 16 : i64, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<1x256xf16>, memref<9x321xf16>, index, index) -> ()
      }
      gpu.return
    }
  }
}

// -----

// Rows that all start at multiples of 8 elements have one place.
// CHECK-LABEL: gpu.func @k(
//   CHECK-NOT:   scf.if
//       CHECK:   scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   gpu.return
module attributes {gpu.container_module} {
  func.func @f(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%c9, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<9x321xf16>, %w : memref<321xf16>, %r : memref<9x321xf16>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<9x321xf16>, %w: memref<321xf16>, %r: memref<9x321xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      %end = arith.constant 321 : index
      %row = gpu.block_id x
      %even = arith.muli %row, %c8 : index
      %back = arith.remui %even, %c8 : index
      %start = arith.subi %c0, %back : index
      %stop = arith.addi %back, %end : index
      scf.for %at = %c0 to %stop step %c256 {
        %place = arith.addi %at, %start : index
        %x = "tile.load"(%a, %row, %place) {aligned = 8 : i64, beyond, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 2>} : (memref<9x321xf16>, index, index) -> vector<1x256xf16>
        %y = "tile.load"(%w, %place) {operandSegmentSizes = array<i32: 1, 1>} : (memref<321xf16>, index) -> vector<1x256xf16>
        %z = arith.mulf %x, %y : vector<1x256xf16>
        "tile.store"(%z, %r, %row, %place) {aligned = 8 : i64, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<1x256xf16>, memref<9x321xf16>, index, index) -> ()
      }
      gpu.return
    }
  }
}
