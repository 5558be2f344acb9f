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
      linalg.yield %r : f32
    }
    return
  }
}

// -----

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
      linalg.yield %r : f32
    }
    return
  }
}
