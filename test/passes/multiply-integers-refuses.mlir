// multiply-integers leaves alone sums that could leave 32 bits, that start from something, and scales along k.
// RUN: mlir-gemm opt --split-input-file %s multiply-integers | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// 255 * 255 * 33026 is more than 2^31.
// CHECK-LABEL: func.func @long(
// CHECK-NOT:   xi32
func.func @long(%a: tensor<32x33026xi8>, %b: tensor<33026x48xi8>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x33026xi8>, tensor<33026x48xi8>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%x: i8, %y: i8, %c: f32):
    %0 = arith.uitofp %x : i8 to f32
    %1 = arith.uitofp %y : i8 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @started(
// CHECK-NOT:   xi32
func.func @started(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %f: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xi8>, tensor<64x48xi8>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%x: i8, %y: i8, %c: f32):
    %0 = arith.sitofp %x : i8 to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#k = affine_map<(m, n, k) -> (k)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @along_k(
// CHECK-NOT:   xi32
func.func @along_k(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %s: tensor<64xf32>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #k, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %s : tensor<32x64xi8>, tensor<64x48xi8>, tensor<64xf32>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%x: i8, %y: i8, %t: f32, %c: f32):
    %0 = arith.sitofp %x : i8 to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %1, %t : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}
