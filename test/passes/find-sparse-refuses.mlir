// find-sparse: what reads a compressed matrix must know that it is one.
// RUN: not mlir-gemm opt %s find-sparse --split-input-file 2>&1 | FileCheck %s

// CHECK: is not only an operand of the one product
func.func @twice(%A: memref<64x128xf16> {tile.sparse = "2:4"}, %B: memref<128x32xf16>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf16>, memref<128x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %t = arith.mulf %x, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf16>, memref<128x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %t = arith.mulf %x, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK: is not only an operand of the one product
func.func @unread(%A: memref<64x128xf16> {tile.sparse = "2:4"}, %B: memref<128x32xf16>, %D: memref<64x32xf32>) {
  return
}

// -----

// CHECK: is not only an operand of the one product
func.func @computed(%A: memref<64x128xf16> {tile.sparse = "2:4"}, %B: memref<128x32xf16>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf16>, memref<128x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %x2 = arith.mulf %x, %x : f32
    %t = arith.mulf %x2, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK: argument 0 with tile.sparse is memref<64x128xf32>; expected a matrix of f16 or bf16, of known sizes
func.func @words(%A: memref<64x128xf32> {tile.sparse = "2:4"}, %B: memref<128x32xf32>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x128xf32>, memref<128x32xf32>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.mulf %a, %b : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK: argument 0 with tile.sparse is memref<64x96xf16>; expected dense rows that run along a k that 64 divides
func.func @odd(%A: memref<64x96xf16> {tile.sparse = "2:4"}, %B: memref<96x32xf16>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<64x96xf16>, memref<96x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %t = arith.mulf %x, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK: expected dense rows that run along a k that 64 divides
func.func @across(%A: memref<128x64xf16> {tile.sparse = "2:4"}, %B: memref<128x32xf16>, %D: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : memref<128x64xf16>, memref<128x32xf16>) outs(%D : memref<64x32xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %t = arith.mulf %x, %y : f32
    %s = arith.addf %c, %t : f32
    linalg.yield %s : f32
  }
  return
}
