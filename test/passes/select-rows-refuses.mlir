// What select-rows refuses: each error names the place, and what is expected instead.
// RUN: not mlir-gemm opt --split-input-file %s select-rows 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'select-rows{threads=64}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'select-rows' has no option 'threads' (options: none)

// CHECK: error: the module names no chip; write one, such as tile.chip = "sm_80"
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.stage = "import"} {
  func.func @chip(%A: memref<10x64xf16> {tile.role = "in"}, %R: memref<10xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<10xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<10x64xf16>) outs(%R : memref<10xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHECK: select-rows-refuses.mlir:[[# @LINE + 4]]:3: error: tile.rows: tile=3x64; expected multiples of 2x64
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @tile(%A: memref<10x64xf16> {tile.role = "in"}, %R: memref<10xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 64 : i64, across = 32 : i64, vector = 2 : i64, tile = [3, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<10xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<10x64xf16>) outs(%R : memref<10xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHECK: select-rows-refuses.mlir:[[# @LINE + 4]]:3: error: tile.rows: threads=48 with across=32; expected a multiple of 32 up to 1024, which across divides
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @threads(%A: memref<10x64xf16> {tile.role = "in"}, %R: memref<10xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 48 : i64, across = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<10xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<10x64xf16>) outs(%R : memref<10xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHECK: select-rows-refuses.mlir:[[# @LINE + 4]]:3: error: tile.rows: no field 'lanes'; expected threads, across, vector, tile, transposed, shift, staged
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @field(%A: memref<10x64xf16> {tile.role = "in"}, %R: memref<10xf32> {tile.role = "out"}) attributes {tile.kind = "rows", tile.rows = {threads = 64 : i64, lanes = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<10xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<10x64xf16>) outs(%R : memref<10xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}

// -----

// CHECK: select-rows-refuses.mlir:[[# @LINE + 4]]:3: error: tile.rows on a function that is not a kernel of rows; expected none
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @other(%A: memref<10x64xf16> {tile.role = "in"}, %R: memref<10xf32> {tile.role = "out"}) attributes {tile.kind = "elementwise", tile.rows = {threads = 64 : i64, across = 32 : i64, vector = 2 : i64, tile = [2, 64]}} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<10xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<10x64xf16>) outs(%R : memref<10xf32>) {
    ^bb0(%x: f16, %a: f32):
      %w = arith.extf %x : f16 to f32
      %r = arith.addf %w, %a : f32
      linalg.yield %r : f32
    }
    return
  }
}
