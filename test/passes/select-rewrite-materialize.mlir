// select-rewrite: an operand that is computed on its way is computed once, in front, where the model finds it pays.
// RUN: mlir-gemm opt --split-input-file %s 'select-rewrite{rewrite=materialize}' | FileCheck %s

// Weights of bytes, many rows: a product of f16 by wgmma takes less than half the time.
// CHECK-LABEL: func.func @many(
// CHECK: "tile.run"({{.*}}) {kernel = "many_0_b"
// CHECK: module @many_0_b attributes {{.*}}computed here, from i8 to f16, once
// CHECK: func.func @many_0(%{{.*}}: memref<2048x4096xf16> {tile.role = "in"}, %{{.*}}: memref<4096x4096xf16> {tile.role = "in"}
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @many(%A: memref<2048x4096xf16> {tile.role = "in"}, %B: memref<4096x4096xi8> {tile.role = "in"}, %D: memref<2048x4096xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<2048x4096xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<2048x4096xf16>, memref<4096x4096xi8>) outs(%D : memref<2048x4096xf32>) {
    ^bb0(%a: f16, %b: i8, %d: f32):
      %h = arith.sitofp %b : i8 to f16
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %h : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}

// -----

// A small product stays one kernel: another launch would take longer than it.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: tile.run
module attributes {tile.chip = "sm_90a", tile.stage = "import"} {
  func.func @small(%A: memref<64x256xf16> {tile.role = "in"}, %B: memref<64x256xi8> {tile.role = "in"}, %D: memref<64x64xf32> {tile.role = "out"}) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<64x64xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<64x256xf16>, memref<64x256xi8>) outs(%D : memref<64x64xf32>) {
    ^bb0(%a: f16, %b: i8, %d: f32):
      %h = arith.sitofp %b : i8 to f16
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %h : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %d, %2 : f32
      linalg.yield %3 : f32
    }
    return
  }
}
