// select-rewrite: operands whose rows start between vectors are copied to aligned ones where the model finds it pays.
// RUN: mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=relayout}' | FileCheck %s

// Rows of 4095 f16 are no whole 16 bytes: both operands get rows of 4096.
// CHECK-LABEL: func.func @odd(
// CHECK: "tile.run"({{.*}}) {kernel = "odd_0_a"
// CHECK: "tile.run"({{.*}}) {kernel = "odd_0_b"
// CHECK: module @odd_0 attributes
// CHECK: memref<4095x4095xf16, strided<[{{[0-9]+}}, 1]>> {tile.padded
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @odd(%A: memref<4095x4095xf16> {tile.role = "in"}, %B: memref<4095x4095xf16> {tile.role = "in"}, %D: memref<4095x4095xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4095x4095xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4095x4095xf16>, memref<4095x4095xf16>) outs(%D : memref<4095x4095xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// What lies well stays where it is.
// CHECK-LABEL: func.func @even(
// CHECK-NOT: tile.run
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @even(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4096x4096xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%D : memref<4096x4096xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// A kernel that is past `select` has been decided.
// CHECK-LABEL: func.func @decided(
// CHECK-NOT: tile.run
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "select"} {
  func.func @decided(%A: memref<4095x4095xf16> {tile.role = "in"}, %B: memref<4095x4095xf16> {tile.role = "in"}, %D: memref<4095x4095xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<4095x4095xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<4095x4095xf16>, memref<4095x4095xf16>) outs(%D : memref<4095x4095xf32>) {
    ^bb0(%a: f16, %b: f16, %d: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}
