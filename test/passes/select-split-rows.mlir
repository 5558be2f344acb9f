// select-split-rows: the model says which rows are reduced in parts; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-split-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-split-rows select-split-rows | FileCheck %s

// Two rows keep two blocks busy: parts side by side, and a kernel that combines them.
// CHECK-LABEL: func.func @sum(
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0"
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0_sum"
//       CHECK:   func.func @sum_0({{.*}}) attributes {tile.kind = "rows", tile.split_k_workspace = {{[0-9]+}} : i64}
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @sum(%A: memref<2x4000000xf32> {tile.role = "in"}, %R: memref<2xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
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

// Short rows do not pay for another kernel.
// CHECK-LABEL: func.func @short(
//   CHECK-NOT:   tile.run
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
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
