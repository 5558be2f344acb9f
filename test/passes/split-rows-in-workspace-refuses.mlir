// What split-rows-in-workspace refuses: each error names the place, and what is expected instead.
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
      linalg.yield %r : f32
    }
    return
  }
}
