// What launch-reduction refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt %s 'launch-reduction{warps=40}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mlir-gemm opt --split-input-file %s launch-reduction 2>&1 | FileCheck %s

// OPTION: error: pass 'launch-reduction{warps=40 ahead=8}': expected 1 to 32 warps, and at least 1 vector ahead

func.func @across(%a: memref<300x10xf32>, %b: memref<300xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<10xf32>)
  // CHECK: launch-reduction-refuses.mlir:[[# @LINE + 1]]:3: error: an operand memref<300x10xf32>, whose neighbours do not lie along the sum
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (k, m)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<300x10xf32>, memref<300xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %w = arith.mulf %x, %y : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}

// -----

func.func @largest(%a: memref<10x300xf32>, %b: memref<300xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<10xf32>)
  // CHECK: launch-reduction-refuses.mlir:[[# @LINE + 1]]:3: error: expected a body that adds to the sum
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<10x300xf32>, memref<300xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %w = arith.mulf %x, %y : f32
    %t = arith.maximumf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}

// -----

func.func @difference(%a: memref<10x300xf32>, %b: memref<300xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<10xf32>)
  // CHECK: launch-reduction-refuses.mlir:[[# @LINE + 1]]:3: error: expected a sum of products of two operands, extended or not
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<10x300xf32>, memref<300xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %w = arith.subf %x, %y : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}

// -----

func.func @one_operand(%a: memref<10x300xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%d : memref<10xf32>)
  // CHECK: launch-reduction-refuses.mlir:[[# @LINE + 1]]:3: error: expected sums of products of two operands along one loop
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<10x300xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %s, %x : f32
    linalg.yield %t : f32
  }
  return
}

// -----

func.func @start(%a: memref<10x300xf32>, %b: memref<300xf32>, %d: memref<10xf32>) attributes {tile.kind = "reduction"} {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%d : memref<10xf32>)
  // CHECK: launch-reduction-refuses.mlir:[[# @LINE + 1]]:3: error: expected sums that start from zero: a linalg.fill with that in front
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<10x300xf32>, memref<300xf32>) outs(%d : memref<10xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %w = arith.mulf %x, %y : f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  }
  return
}
