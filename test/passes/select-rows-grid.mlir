// select-rows: long rows go to blocks of the grid that run at the same time; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-rows select-rows | FileCheck %s

// Eight rows of a million: 16 blocks each, one on an SM, which keep some of their tiles in registers.
// CHECK-LABEL: func.func @few(
//  CHECK-SAME: tile.rows = {{{.*}}front = {{[1-9][0-9]*}} : i64, grid = 16 : i64, {{.*}}staged = true
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @few(%A: memref<8x1000000xf32> {tile.role = "in"}, %R: memref<8x1000000xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<8xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<8xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<8x1000000xf32>) outs(%greatest : memref<8xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.maximumf %x, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<8x1000000xf32>, memref<8xf32>) outs(%R : memref<8x1000000xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
    }
    return
  }
}

// -----

// A hundred: some at a time, by two blocks an SM.
// CHECK-LABEL: func.func @many(
//  CHECK-SAME: tile.rows = {{{.*}}grid = {{[0-9]+}} : i64, groups = {{[0-9]+}} : i64, min_blocks = 2 : i64
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @many(%A: memref<100x1000000xf32> {tile.role = "in"}, %R: memref<100x1000000xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<100xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<100xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<100x1000000xf32>) outs(%greatest : memref<100xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.maximumf %x, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<100x1000000xf32>, memref<100xf32>) outs(%R : memref<100x1000000xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
    }
    return
  }
}

// -----

// A chip without launches of which all blocks run at the same time.
// CHECK-LABEL: func.func @elsewhere(
//   CHECK-NOT: grid
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "gfx942", tile.stage = "import"} {
  func.func @elsewhere(%A: memref<8x1000000xf32> {tile.role = "in"}, %R: memref<8x1000000xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<8xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<8xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<8x1000000xf32>) outs(%greatest : memref<8xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.maximumf %x, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<8x1000000xf32>, memref<8xf32>) outs(%R : memref<8x1000000xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
    }
    return
  }
}

// -----

// Four rows of an open length, a multiple of whole vectors and typically long: all blocks go over them in each pass, and nothing is kept.
// CHECK-LABEL: func.func @open(
//  CHECK-SAME: tile.rows = {{{.*}}grid = 33 : i64, shift = 0 : i64, staged = false
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @open(%A: memref<4x?xf32> {tile.role = "in", tile.symbols = ["", "s0"]}, %R: memref<4x?xf32> {tile.role = "out", tile.symbols = ["", "s0"]}) attributes {tile.divisors = {s0 = 4 : i64}, tile.hints = {s0 = 524288 : i64}, tile.kind = "rows"} {
    %lowest = arith.constant 0xFF800000 : f32
    %greatest = memref.alloc() : memref<4xf32>
    linalg.fill ins(%lowest : f32) outs(%greatest : memref<4xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<4x?xf32>) outs(%greatest : memref<4xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.maximumf %x, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%A, %greatest : memref<4x?xf32>, memref<4xf32>) outs(%R : memref<4x?xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
    }
    return
  }
}
