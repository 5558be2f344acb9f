// move-row-factors: numbers for each row of an operand multiply the rows of the product; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s move-row-factors | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s move-row-factors move-row-factors | FileCheck %s

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An RMS norm before a product: the factor of each row is computed in f32, and multiplies the sums. X goes as it is.
// CHECK-LABEL: func.func @rms(
//  CHECK-SAME:   %[[X:.*]]: tensor<32x64xbf16>, %[[MEAN:.*]]: tensor<32xf32>, %[[W:.*]]: tensor<48x64xbf16>)
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[MEAN]] : tensor<32xf32>) outs({{.*}} : tensor<32xf32>)
//       CHECK:     math.rsqrt
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[W]] :
//       CHECK:   %[[D:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[R]] : tensor<32x48xf32>, tensor<32xf32>)
//       CHECK:     arith.mulf
//       CHECK:   return %[[D]]
func.func @rms(%x: tensor<32x64xbf16>, %mean: tensor<32xf32>, %W: tensor<48x64xbf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<32x64xbf16>
  %h = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<32x64xbf16>, tensor<32xf32>) outs(%he : tensor<32x64xbf16>) {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %s = math.rsqrt %b : f32
    %q = arith.mulf %f, %s : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  %wide = tensor.empty() : tensor<32x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<32x48xf32>) -> tensor<32x48xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<32x64xbf16>, tensor<48x64xbf16>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %p : tensor<32x48xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Weights of bytes with a scale for each output, which divides: columns of the result are divided, bytes stay numbers.
// CHECK-LABEL: func.func @bytes(
//  CHECK-SAME:   %[[X:.*]]: tensor<32x64xf16>, %[[B:.*]]: tensor<48x64xi8>, %[[S:.*]]: tensor<48xf16>)
//       CHECK:   %[[W:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<48x64xi8>)
//       CHECK:     arith.sitofp
//   CHECK-NOT:     arith.divf
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<48xf16>) outs({{.*}} : tensor<48xf32>)
//       CHECK:     arith.divf
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[W]] :
//       CHECK:   linalg.generic {indexing_maps = [#[[E:.*]], #[[C:.*]], #[[E]]], {{.*}} ins(%[[P]], %[[R]] : tensor<32x48xf32>, tensor<48xf32>)
func.func @bytes(%h: tensor<32x64xf16>, %w: tensor<48x64xi8>, %s: tensor<48xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<48x64xf16>
  %W = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<48x64xi8>, tensor<48xf16>) outs(%he : tensor<48x64xf16>) {
  ^bb0(%a: i8, %b: f16, %o: f16):
    %f = arith.sitofp %a : i8 to f16
    %q = arith.divf %f, %b : f16
    linalg.yield %q : f16
  } -> tensor<48x64xf16>
  %wide = tensor.empty() : tensor<32x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<32x48xf32>) -> tensor<32x48xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<32x64xf16>, tensor<48x64xf16>) outs(%start : tensor<32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %af = arith.extf %a : f16 to f32
    %bf = arith.extf %b : f16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %p : tensor<32x48xf32>
}
