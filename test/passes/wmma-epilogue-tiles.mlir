// wmma-epilogue where a block walks tiles: the scratch is there once, before the loop over them.
// RUN: mlir-gemm opt %s wmma-epilogue cse canonicalize | FileCheck %s

// CHECK-LABEL: @walked
// CHECK: %[[SCRATCH:.*]] = memref.alloc() : memref<16x20xf32, 3>
// CHECK: scf.for
// CHECK: "tile.mma"
// CHECK: memref.subview %[[SCRATCH]]
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK: vector.store
gpu.module @walking {
  gpu.func @walked(%a: memref<16x16xf16, 3>, %D: memref<64x16xf16>, %tiles: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    scf.for %tile = %c0 to %tiles step %c1 {
      %row = arith.muli %tile, %c16 : index
      %d = "tile.mma"(%a, %a, %zero) {a = "mk", b = "kn", scope = "warp"} : (memref<16x16xf16, 3>, memref<16x16xf16, 3>, vector<16x16xf32>) -> vector<16x16xf32>
      %e = arith.truncf %d : vector<16x16xf32> to vector<16x16xf16>
      "tile.store"(%e, %D, %row, %c0) {operandSegmentSizes = array<i32: 1, 1, 2>, scope = "warp", in_bounds = array<i1: true, true>} : (vector<16x16xf16>, memref<64x16xf16>, index, index) -> ()
      gpu.barrier
    } {tile.tiles}
    gpu.return
  }
}
