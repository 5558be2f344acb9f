// What lower-rows refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'lower-rows{across=32 vector=2}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'lower-rows{across=128 vector=2}' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlir-gemm opt --split-input-file %s 'lower-rows{across=3 vector=2}' 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not mlir-gemm opt --split-input-file %s 'lower-rows{across=4 vector=6}' 2>&1 | FileCheck %s --check-prefix=VECTOR

// MANY: error: pass 'lower-rows': across=128 of 64 threads; expected a divisor
// POWER: error: pass 'lower-rows': across=3; expected a power of two
// VECTOR: error: pass 'lower-rows': vector=6; expected a power of two

module attributes {gpu.container_module} {
  func.func @f(%a: memref<14x30xf32>, %r: memref<14xf32>) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<14x30xf32>, %r : memref<14xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<14x30xf32>, %r: memref<14xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %end = arith.constant 30 : index
      // CHECK: lower-rows-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: a tile of vector<16x32xf32> for 64 threads; expected multiples of 2 rows and 64 columns, or 1
      %t = "tile.load"(%a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<14x30xf32>, index, index) -> vector<16x32xf32>
      %c = "tile.clip"(%t, %c0, %end) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<16x32xf32>, index, index) -> vector<16x32xf32>
      %s = "tile.reduce"(%c) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<16x32xf32>) -> vector<16x1xf32>
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16x1xf32>, memref<14xf32>, index) -> ()
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @f(%a: memref<16x64xf32>, %r: memref<16xf32>) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) args(%a : memref<16x64xf32>, %r : memref<16xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%a: memref<16x64xf32>, %r: memref<16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %end = arith.constant 64 : index
      %t = "tile.load"(%a, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2>} : (memref<16x64xf32>, index, index) -> vector<16x64xf32>
      %c = "tile.clip"(%t, %c0, %end) {dim = 1 : i64, neutral = 0xFF800000 : f32} : (vector<16x64xf32>, index, index) -> vector<16x64xf32>
      %s = "tile.reduce"(%c) ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %x, %y : f32
        "tile.yield"(%z) {operandSegmentSizes = array<i32: 1, 0>} : (f32) -> ()
      }) {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>} : (vector<16x64xf32>) -> vector<16x1xf32>
      // CHECK: lower-rows-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: 'vector.transpose' on a tile of a kernel of rows is not supported
      %u = vector.transpose %t, [1, 0] : vector<16x64xf32> to vector<64x16xf32>
      "tile.store"(%s, %r, %c0) {dims = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (vector<16x1xf32>, memref<16xf32>, index) -> ()
      gpu.return
    }
  }
}
