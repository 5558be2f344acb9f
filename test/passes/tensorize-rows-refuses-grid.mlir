// What tensorize-rows refuses where blocks of the grid share rows: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s share-sizes 'tensorize-rows{tile=1,8 grid=4}' 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=16,8 grid=4}' 2>&1 | FileCheck %s --check-prefix=DOWN
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{tile=1,8 grid=4 staged=true front=1}' 2>&1 | FileCheck %s --check-prefix=FRONT
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{grid=1}' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{grid=2 cluster=2}' 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mlir-gemm opt --split-input-file %s 'tensorize-rows{grid=2 front=1}' 2>&1 | FileCheck %s --check-prefix=HELD

// ONE: error: pass 'tensorize-rows{{.*}}': expected 0 blocks of the grid, or 2 and more without cluster, transposed, flat and part
// BOTH: error: pass 'tensorize-rows{{.*}}': expected 0 blocks of the grid, or 2 and more without cluster, transposed, flat and part
// HELD: error: pass 'tensorize-rows{{.*}}': expected front=0, or tiles with staged=true and shift=0

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// DOWN: tensorize-rows-refuses-grid.mlir:[[# @LINE + 2]]:1: error: grid=4 for tiles of 16 rows; expected up to 8 for so many blocks, all of which run at the same time
// FRONT: tensorize-rows-refuses-grid.mlir:[[# @LINE + 1]]:1: error: front=1 of 32 elements by all blocks; expected rows of one dimension and a constant length, of more than so many
func.func @short(%A: memref<4x30xf32>, %R: memref<4xf32>) attributes {tile.kind = "rows"} {
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

// OPEN: tensorize-rows-refuses-grid.mlir:[[# @LINE + 1]]:1: error: grid=4 for rows whose number is known at run time only; expected groups for so many blocks
func.func @open(%A: memref<?x30xf32> {tile.symbols = ["s0", ""]}, %R: memref<?xf32> {tile.symbols = ["s0"]}) attributes {tile.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%R : memref<?xf32>)
  linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%A : memref<?x30xf32>) outs(%R : memref<?xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %a, %x : f32
    linalg.yield %r : f32
  }
  return
}
