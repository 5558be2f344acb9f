// move-k-factors: numbers along k multiply the smaller operand; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s move-k-factors | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s move-k-factors move-k-factors | FileCheck %s

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 32 MB need not be written, for the reading and the writing of 0.5 MB.
// CHECK-LABEL: func.func @plain(
//  CHECK-SAME:   %[[X:.*]]: tensor<16384x1024xbf16>, %[[S:.*]]: tensor<1024xbf16>, %[[W:.*]]: tensor<128x1024xbf16>)
//       CHECK:   %[[SW:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[S]] : tensor<128x1024xbf16>, tensor<1024xbf16>)
//       CHECK:     arith.mulf
//       CHECK:     arith.truncf
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[SW]] :
func.func @plain(%x: tensor<16384x1024xbf16>, %w: tensor<1024xbf16>, %W: tensor<128x1024xbf16>) -> tensor<16384x128xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<16384x1024xbf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<16384x1024xbf16>, tensor<1024xbf16>) outs(%he : tensor<16384x1024xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.mulf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<16384x1024xbf16>
  %wide = tensor.empty() : tensor<16384x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<16384x128xf32>) -> tensor<16384x128xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<16384x1024xbf16>, tensor<128x1024xbf16>) outs(%start : tensor<16384x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<16384x128xf32>
  return %p : tensor<16384x128xf32>
}

// -----

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The factor of each row stays for move-row-factors.
// CHECK-LABEL: func.func @rms(
//  CHECK-SAME:   %[[X:.*]]: tensor<16384x1024xbf16>, %[[R:.*]]: tensor<16384xf32>, %[[S:.*]]: tensor<1024xbf16>, %[[W:.*]]: tensor<128x1024xbf16>)
//       CHECK:   %[[H:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[R]] : tensor<16384x1024xbf16>, tensor<16384xf32>)
//       CHECK:   %[[SW:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[S]] : tensor<128x1024xbf16>, tensor<1024xbf16>)
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]], %[[SW]] :
func.func @rms(%x: tensor<16384x1024xbf16>, %r: tensor<16384xf32>, %w: tensor<1024xbf16>, %W: tensor<128x1024xbf16>) -> tensor<16384x128xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<16384x1024xbf16>
  %h = linalg.generic {indexing_maps = [#e, #r, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %w : tensor<16384x1024xbf16>, tensor<16384xf32>, tensor<1024xbf16>) outs(%he : tensor<16384x1024xbf16>) {
  ^bb0(%a: bf16, %c: f32, %b: bf16, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %g = arith.mulf %f, %c : f32
    %i = arith.truncf %g : f32 to bf16
    %q = arith.mulf %i, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<16384x1024xbf16>
  %wide = tensor.empty() : tensor<16384x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<16384x128xf32>) -> tensor<16384x128xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<16384x1024xbf16>, tensor<128x1024xbf16>) outs(%start : tensor<16384x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<16384x128xf32>
  return %p : tensor<16384x128xf32>
}
