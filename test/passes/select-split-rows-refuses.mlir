// select-split-rows leaves alone what is fixed, and asks for the chip.
// RUN: not mlir-gemm opt --split-input-file %s select-split-rows 2>/dev/null | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s select-split-rows 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not mlir-gemm opt --split-input-file %s 'select-split-rows{parts=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'select-split-rows' has no option 'parts' (options: none)

// How the rows are divided is fixed: they stay whole.
// CHECK-LABEL: func.func @sum(
//   CHECK-NOT:   tile.run
//       CHECK:   linalg.generic
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sum(%A: memref<2x4000000xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 64 : i64, across = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<2xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<2x4000000xf32>) outs(%R : memref<2xf32>) {
    ^bb0(%x: f32, %a: f32):
      %s = math.absf %x : f32
      %r = arith.addf %s, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHIP: error: the module names no chip; write one, such as tile.chip = "sm_80"
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.stage = "import"} {
  func.func @short(%A: memref<2x1000xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
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
