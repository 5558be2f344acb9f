// What elementwise-loops refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s elementwise-loops 2>&1 | FileCheck %s

// A row's sum, then a use of it by every element of the row: other threads would have to wait.
func.func @normalize(%x: memref<6x10xf32>, %y: memref<6xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x10xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: points of 6x10 in one kernel with points of 6; expected the same sizes
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]} ins(%y : memref<6xf32>) outs(%x : memref<6x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.divf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @transpose_in_place(%x: memref<4x4xf32>) attributes {tile.kind = "elementwise"} {
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a buffer of memref<4x4xf32> is written here, and other points touch the same element; expected each point to touch only its own
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @many_to_one(%x: memref<4x8xf32>, %y: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: an output at (d0, d1) -> (d0): several points write one element; expected each to write its own
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @dynamic(%x: memref<?xf32>) attributes {tile.kind = "elementwise"} {
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: memref<?xf32>; expected sizes that are constant or arguments'
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xf32>) {
  ^bb0(%out: f32):
    %s = arith.negf %out : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @unwritten(%y: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  %t = memref.alloc() : memref<4xf32>
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a buffer of memref<4xf32> is read before it is written
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @empty(%y: memref<0xf32>) attributes {tile.kind = "elementwise"} {
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: points of 0; expected at least one
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<0xf32>) {
  ^bb0(%out: f32):
    linalg.yield %out : f32
  }
  return
}

// -----

func.func @call(%y: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<4xf32>) {
  ^bb0(%out: f32):
    // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:10: error: 'func.call' in the body of a point; expected operations of arith and math
    %r = func.call @f(%out) : (f32) -> f32
    linalg.yield %r : f32
  }
  return
}
func.func private @f(f32) -> f32

// -----

func.func @view(%y: memref<4x4xf32>) attributes {tile.kind = "elementwise"} {
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:8: error: 'memref.subview' in an elementwise kernel; expected linalg.generic or tile.copy
  %v = memref.subview %y[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  return
}

// -----

func.func @copied_temporary(%y: memref<4xf32>) attributes {tile.kind = "elementwise"} {
  %zero = arith.constant 0 : index
  %t = memref.alloc() : memref<4xf32>
  // CHECK: elementwise-loops-refuses.mlir:[[# @LINE + 1]]:3: error: a buffer of memref<4xf32> of this kernel is read at any place
  "tile.copy"(%y, %t, %zero) {operandSegmentSizes = array<i32: 1, 1, 1>} : (memref<4xf32>, memref<4xf32>, index) -> ()
  return
}
