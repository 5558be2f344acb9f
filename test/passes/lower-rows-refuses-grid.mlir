// What lower-rows refuses where blocks of the grid share a row: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'lower-rows{across=32 vector=2}' 2>&1 | FileCheck %s

// Not all blocks of a group come there: the others would wait for ever.
module attributes {gpu.container_module} {
  func.func @f(%a: memref<1x64xf32>, %r: memref<1xf32>, %n: index) {
    %words = memref.alloc() {tile.scratch = "words"} : memref<1x2x1xi64>
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@some blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<1x64xf32>, %r : memref<1xf32>, %words : memref<1x2x1xi64>)
    return
  }
  gpu.module @m {
    gpu.func @some(%a: memref<1x64xf32>, %r: memref<1xf32>, %words: memref<1x2x1xi64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %block = gpu.block_id x
      %t = "tile.load"(%a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<1x64xf32>, index, index) -> vector<1x64xf32>
      %s = "tile.reduce"(%t) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.addf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<1x64xf32>) -> vector<1x1xf32>
      %first = arith.cmpi eq, %block, %c0 : index
      scf.if %first {
        // CHECK: lower-rows-refuses-grid.mlir:[[# @LINE + 1]]:{{.*}}: error: a reduction by blocks of the grid in 'scf.if'; expected it where all blocks of a group come
        %g = "tile.grid_reduce"(%words, %c0, %block, %s) ({
        ^bb0(%x: f32, %y: f32):
          %z = arith.addf %x, %y : f32
          "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
        }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (memref<1x2x1xi64>, index, index, vector<1x1xf32>) -> vector<1x1xf32>
        "tile.store"(%g, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf32>, memref<1xf32>, index) -> ()
      }
      gpu.return
    }
  }
}

// -----

// A value of each row that is read and written: a block that comes late would read what the first one has written.
module attributes {gpu.container_module} {
  func.func @f(%r: memref<1xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @m::@updated blocks in (%c2, %c1, %c1) threads in (%threads, %c1, %c1) args(%r : memref<1xf32>)
    return
  }
  gpu.module @m {
    gpu.func @updated(%r: memref<1xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.cooperative = 2 : i64} {
      %c0 = arith.constant 0 : index
      %t = "tile.load"(%r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1>} : (memref<1xf32>, index) -> vector<1x1xf32>
      %s = arith.addf %t, %t : vector<1x1xf32>
      // CHECK: lower-rows-refuses-grid.mlir:[[# @LINE + 1]]:{{.*}}: error: a value of each row that is read and written, where blocks of the grid share rows; expected grid=0
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<1x1xf32>, memref<1xf32>, index) -> ()
      gpu.return
    }
  }
}
