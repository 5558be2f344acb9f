// materialize-operand refuses what it cannot compute in front of the product. Each case is run alone.
// RUN: not mlir-gemm opt --split-input-file %s 'materialize-operand{b=true}' 2>&1 | FileCheck %s

// CHECK: error: operand B of the product is computed from several operands, none of which has all its dimensions
func.func @outer(%x: memref<64x32xf16>, %s: memref<48xf16>, %t: memref<32xf16>, %d: memref<64x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %s, %t : memref<64x32xf16>, memref<48xf16>, memref<32xf16>) outs(%d : memref<64x48xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %sum: f32):
    %g = arith.mulf %b, %c : f16
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %g : f16 to f32
    %p = arith.mulf %l, %r : f32
    %u = arith.addf %sum, %p : f32
    linalg.yield %u : f32
  }
  return
}

// -----

// CHECK: error: operand B of the product is computed from memref<?x32xi8>; expected constant sizes
func.func @open(%x: memref<64x32xf16>, %w: memref<?x32xi8>, %d: memref<64x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x32xf16>, memref<?x32xi8>) outs(%d : memref<64x?xf32>) {
  ^bb0(%a: f16, %b: i8, %sum: f32):
    %g = arith.sitofp %b : i8 to f16
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %g : f16 to f32
    %p = arith.mulf %l, %r : f32
    %u = arith.addf %sum, %p : f32
    linalg.yield %u : f32
  }
  return
}
