// What tensorize-rows refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=2,32}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=2}' 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=0,32}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{rows=2}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{cluster=3}' 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{unroll=0}' 2>&1 | FileCheck %s --check-prefix=UNROLL

// SIZES: error: pass 'tensorize-rows': option 'tile=2' is not a value like 1,1024
// NONE: error: pass 'tensorize-rows': option 'tile=0,32' is not a value like 1,1024
// CLUSTER: error: pass 'tensorize-rows': cluster=3; expected a power of two, and 1 for transposed tiles
// UNROLL: error: pass 'tensorize-rows': unroll=0; expected 1 or more
// OPTION: error: pass 'tensorize-rows' has no option 'rows'

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// CHECK: tensorize-rows-refuses.mlir:[[# @LINE + 1]]:1: error: a kernel of rows without a reduction
func.func @elementwise(%A: memref<4x6xf32>, %R: memref<4x6xf32>) attributes {tile.kind = "rows"} {
  linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A : memref<4x6xf32>) outs(%R : memref<4x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

func.func @difference(%A: memref<4x6xf32>, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
  // CHECK: tensorize-rows-refuses.mlir:[[# @LINE + 1]]:3: error: a reduction that is not one associative operation on each output
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x6xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.subf %a, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

func.func @both_ways(%A: memref<4x6xf32>, %R: memref<4xf32>, %S: memref<6xf32>) attributes {tile.kind = "rows"} {
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x6xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  // CHECK: tensorize-rows-refuses.mlir:[[# @LINE + 1]]:3: error: loops that are not those of a kernel of rows, 1 and 1 along a row (normalise-kernels)
  linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%A : memref<4x6xf32>) outs(%S : memref<6xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

func.func @starts(%A: memref<4x6xf32>, %z: f32, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
  // CHECK: tensorize-rows-refuses.mlir:[[# @LINE + 1]]:3: error: a reduction that starts from a value known at run time only
  linalg.fill ins(%z : f32) outs(%R : memref<4xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x6xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

func.func @index(%A: memref<4x6xf32>, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<4x6xf32>) outs(%R : memref<4xf32>) {
  ^bb0(%x: f32, %a: f32):
    // CHECK: tensorize-rows-refuses.mlir:[[# @LINE + 1]]:{{.*}}: error: 'linalg.index' in the body of a row; expected operations of arith and math
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %q = arith.mulf %x, %f : f32
    %r = arith.addf %q, %a : f32
    linalg.yield %r : f32
  }
  return
}
