// select-rewrite: A and B change places where the product has few rows, and the fields say so.
// RUN: mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=swap_ab}' | FileCheck %s

// CHECK: module attributes {tile.chip = "sm_90a", tile.note = "A and B have changed places: the product is 16x8192x8192 f16,f16->f32 (accumulates in f32), and is computed as its transpose, 8192x16x8192, because wgmma has tiles of few columns but none of few rows"
// CHECK-LABEL: func.func @thin(
// CHECK-SAME: tile.schedule = {swap_ab = true}
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @thin(%A: memref<16x8192xf16> {tile.role = "in"}, %B: memref<8192x8192xf16> {tile.role = "in"}, %D: memref<16x8192xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<16x8192xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<16x8192xf16>, memref<8192x8192xf16>) outs(%D : memref<16x8192xf32>) {
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

// CHECK-LABEL: func.func @square(
// CHECK-NOT: swapped
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @square(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) {
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

// CHECK: "A and B have changed places: {{.*}}, as the schedule says"
// CHECK-LABEL: func.func @asked(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @asked(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) attributes {tile.schedule = {swap_ab = true}} {
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
