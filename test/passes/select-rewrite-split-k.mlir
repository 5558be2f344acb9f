// select-rewrite: few tiles and a long k are multiplied in slices, side by side.
// RUN: mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=split_k_workspace}' | FileCheck %s

// CHECK-LABEL: func.func @deep(
// CHECK: "tile.run"({{.*}}) {kernel = "deep_0"
// CHECK: "tile.run"({{.*}}) {kernel = "deep_0_sum"
// CHECK: module @deep_0 attributes
// CHECK: tile.split_k_workspace
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @deep(%A: memref<512x16384xf16> {tile.role = "in"}, %B: memref<16384x512xf16> {tile.role = "in"}, %D: memref<512x512xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<512x512xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<512x16384xf16>, memref<16384x512xf16>) outs(%D : memref<512x512xf32>) {
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
// CHECK-NOT: tile.run
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

// The user's number counts.
// CHECK-LABEL: func.func @asked(
// CHECK: tile.split_k_workspace = 4
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @asked(%A: memref<4096x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xf16> {tile.role = "in"}, %D: memref<4096x4096xf32> {tile.role = "out"}) attributes {tile.schedule = {split_k_workspace = 4 : i64}} {
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
