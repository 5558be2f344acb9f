<<<<<<< HEAD
// RUN: not mlir-gemm opt %s 'split-rows-in-workspace{parts=1}' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mlir-gemm opt %s 'split-rows-in-workspace{kernel=no}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mlir-gemm opt %s 'split-rows-in-workspace{parts=3}' 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not mlir-gemm opt %s 'split-rows-in-workspace{parts=3 depth=100}' 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sed 's/tile.kind = "rows"/tile.kind = "elementwise"/' %s | not mlir-gemm opt - 'split-rows-in-workspace{parts=2}' 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: sed 's/linalg.fill.*/linalg.copy ins(%%old : memref<16xf32>) outs(%%R : memref<16xf32>)/' %s | not mlir-gemm opt - 'split-rows-in-workspace{parts=2}' 2>&1 | FileCheck %s --check-prefix=START

// ONE: error: pass 'split-rows-in-workspace{kernel= parts=1 depth=0}': expected at least 2 parts, of at least 0 elements
// NAME: error: kernel 'no' is not in the program, which has none
// UNEVEN: error: rows cannot be reduced in parts: 200 elements do not divide into 3 parts
// SHORT: error: rows cannot be reduced in parts: a row of 200 elements is shorter than 3 parts of 100
// KIND: error: only the rows of a kernel of rows are reduced in parts
// START: error: rows cannot be reduced in parts: it starts from what is in memory
#mn = affine_map<(n, m) -> (m, n)>
#n = affine_map<(n, m) -> (n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sums(%A: memref<200x16xf32>, %old: memref<16xf32>, %R: memref<16xf32>) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<16xf32>)
    linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<200x16xf32>) outs(%R : memref<16xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.addf %x, %a : f32
=======
// RUN: not mlir-gemm opt --split-input-file %s 'split-rows-in-workspace{parts=4}' 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'split-rows-in-workspace{parts=1}' 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not mlir-gemm opt --split-input-file %s 'split-rows-in-workspace{rows=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// PARTS: error: pass 'split-rows-in-workspace{{.*}}': expected at least 2 parts, of at least 0 elements
// OPTION: error: pass 'split-rows-in-workspace' has no option 'rows'

// CHECK: split-rows-in-workspace-refuses.mlir:[[# @LINE + 4]]:3: error: only the rows of a kernel of rows are reduced in parts
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sum(%A: memref<2x1000xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<2xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<2x1000xf32>) outs(%R : memref<2xf32>) {
    ^bb0(%x: f32, %a: f32):
      %s = math.absf %x : f32
      %r = arith.addf %s, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHECK: error: rows cannot be reduced in parts: 1001 elements do not divide into 4 parts
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sum(%A: memref<2x1001xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<2xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<2x1001xf32>) outs(%R : memref<2xf32>) {
    ^bb0(%x: f32, %a: f32):
      %s = math.absf %x : f32
      %r = arith.addf %s, %a : f32
>>>>>>> rowtests
      linalg.yield %r : f32
    }
    return
  }
}
