// unswitch-rows: a loop that reads weights between vectors becomes one for each even place between them.
// RUN: mlir-gemm opt %s unswitch-rows | FileCheck %s
// RUN: mlir-gemm opt %s unswitch-rows cse canonicalize unswitch-rows cse canonicalize > %t.twice
// RUN: mlir-gemm opt %s unswitch-rows cse canonicalize > %t.once
// RUN: diff %t.once %t.twice
// RUN: mlir-gemm opt %s unswitch-rows 'lower-rows{across=32 vector=8}' cse canonicalize | FileCheck %s --check-prefix=LANES

// Rows of 321 elements start up to 7 elements after a multiple of 8, and tiles as much before them. The weights are
// loaded from there on: `back` elements before a multiple of 8, or 8 - `back` after one, of which the odd one is left.
// CHECK-LABEL: gpu.func @k(
//       CHECK:   %[[BACK:.*]] = arith.remui %{{.*}}, %c8
//       CHECK:   %[[AFTER:.*]] = arith.subi %c8{{.*}}, %[[BACK]]
//       CHECK:   %[[ODD:.*]] = arith.remui %[[AFTER]], %c2
//       CHECK:   %[[PLACE:.*]] = arith.subi %{{.*}}, %[[ODD]]
//       CHECK:   %[[FIRST:.*]] = arith.subi %c0{{.*}}
//       CHECK:   %[[NONE:.*]] = arith.cmpi eq, %[[PLACE]], %c0
//       CHECK:   scf.if %[[NONE]] {
//       CHECK:     scf.for
//       CHECK:       "tile.load"(%arg0, {{.*}}aligned = 8
//       CHECK:       %[[VECTOR:.*]] = arith.addi %{{.*}}, %[[FIRST]]
//  CHECK-NEXT:       %[[AT:.*]] = arith.addi %[[VECTOR]], %[[ODD]]
//  CHECK-NEXT:       "tile.load"(%arg1, %[[AT]])
//       CHECK:   } else {
//       CHECK:     arith.cmpi eq, %[[PLACE]], %c2
//       CHECK:     scf.if
//       CHECK:       scf.for
//       CHECK:         %[[MORE:.*]] = arith.addi %{{.*}}, %c2
//  CHECK-NEXT:         %[[AT2:.*]] = arith.addi %[[MORE]], %[[ODD]]
//  CHECK-NEXT:         "tile.load"(%arg1, %[[AT2]])
//       CHECK:     } else {
// CHECK-COUNT-2:       scf.for
//   CHECK-NOT:   scf.for
//       CHECK:   gpu.return

// A thread loads two vectors, and takes five words of them from a known one on: no word is chosen, but each is shifted
// with the next by none or 16 bits.
// LANES-LABEL: gpu.func @k(
//       LANES:   scf.for
//       LANES:     %[[HALF:.*]] = arith.shli %{{.*}}, %c4_i64
//       LANES:     vector.load %arg1
//       LANES:     %[[WORDS:.*]] = vector.bitcast
//   LANES-NOT:     arith.select
//       LANES:     vector.extract %{{.*}}[0] : i32
//   LANES-NOT:     arith.select
//       LANES:     arith.shrui %{{.*}}, %[[HALF]] : i64
//       LANES:   scf.for
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
        %y = "tile.load"(%w, %place) {operandSegmentSizes = array<i32: 1, 1>} : (memref<321xf16>, index) -> vector<1x256xf16>
        %z = arith.mulf %x, %y : vector<1x256xf16>
        "tile.store"(%z, %r, %row, %place) {aligned = 8 : i64, in_bounds = array<i1: true, false>, operandSegmentSizes = array<i32: 1, 1, 2>} : (vector<1x256xf16>, memref<9x321xf16>, index, index) -> ()
      }
      gpu.return
    }
  }
}
