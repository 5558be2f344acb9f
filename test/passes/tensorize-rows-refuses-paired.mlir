// What tensorize-rows refuses where blocks that share rows are to exchange two results at once.
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=1,8 grid=4 paired=true}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=1,8 paired=true}' 2>&1 | FileCheck %s --check-prefix=ALONE

// ALONE: error: pass 'tensorize-rows{{.*}}': expected paired=false for rows that no blocks share

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// One reduction is no pair.
// CHECK: tensorize-rows-refuses-paired.mlir:[[# @LINE + 1]]:1: error: paired=true for other reductions than a maximum and a sum of exp(x - maximum), or a sum and one of squares of x - mean, along a dimension of constant size
func.func @sum(%A: memref<4x30xf32>, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%R : memref<4xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x30xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %a, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// Squares around something else than the mean: 30 elements, divided by 29.
// CHECK: tensorize-rows-refuses-paired.mlir:[[# @LINE + 1]]:1: error: paired=true for other reductions than
func.func @no_mean(%A: memref<4x30xf32>, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x30xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %a, %x : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%R : memref<4xf32>)
  linalg.generic {indexing_maps = [#mn, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A, %s : memref<4x30xf32>, memref<4xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %t: f32, %a: f32):
    %c = arith.constant 29.0 : f32
    %mean = arith.divf %t, %c : f32
    %d = arith.subf %x, %mean : f32
    %q = arith.mulf %d, %d : f32
    %r = arith.addf %a, %q : f32
    linalg.yield %r : f32
  }
  return
}
