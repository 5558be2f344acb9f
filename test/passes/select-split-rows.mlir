<<<<<<< HEAD
// select-split-rows: few long rows are reduced in parts, many or short ones are not; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-split-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-split-rows select-split-rows | FileCheck %s

// CHECK-LABEL: func.func @long(
//       CHECK: kernel = "long_0"
//       CHECK: kernel = "long_0_sum"
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @long(%A: memref<4x4194304xf32> {tile.role = "in"}, %R: memref<4xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<4xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<4x4194304xf32>) outs(%R : memref<4xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.addf %x, %a : f32
=======
// select-split-rows: the model says which rows are reduced in parts; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s select-split-rows | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s select-split-rows select-split-rows | FileCheck %s

// Two rows keep two blocks busy: parts side by side, and a kernel that combines them.
// CHECK-LABEL: func.func @sum(
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0"
//       CHECK:   "tile.run"({{.*}}) {kernel = "sum_0_sum"
//       CHECK:   func.func @sum_0({{.*}}) attributes {tile.divided = {{[0-9]+}} : i64, tile.kind = "rows"}
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
>>>>>>> rowtests
      linalg.yield %r : f32
    }
    return
  }
}

// -----

<<<<<<< HEAD
// CHECK-LABEL: func.func @many(
//   CHECK-NOT: tile.run
//       CHECK: linalg.generic
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @many(%A: memref<65536x1024xf32> {tile.role = "in"}, %R: memref<65536xf32> {tile.role = "out"}) attributes {tile.kind = "rows"} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%R : memref<65536xf32>)
    linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%A : memref<65536x1024xf32>) outs(%R : memref<65536xf32>) {
    ^bb0(%x: f32, %a: f32):
      %r = arith.addf %x, %a : f32
=======
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
>>>>>>> rowtests
      linalg.yield %r : f32
    }
    return
  }
}
