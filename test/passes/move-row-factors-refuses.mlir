// move-row-factors leaves alone what would gain nothing, or round more; it has no options.
// RUN: mlir-gemm opt --split-input-file %s move-row-factors | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'move-row-factors{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'move-row-factors' has no option 'most' (options: none)

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A difference is no element in memory: f16 would round it, or not hold it, without the factor.
// CHECK-LABEL: func.func @layer_norm(
//       CHECK:   %[[H:.*]] = linalg.generic
//       CHECK:     arith.subf
//       CHECK:     arith.mulf
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
//   CHECK-NOT:   linalg.generic
func.func @layer_norm(%x: tensor<32x64xf16>, %mean: tensor<32xf32>, %W: tensor<48x64xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<32x64xf16>
  %h = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<32x64xf16>, tensor<32xf32>) outs(%he : tensor<32x64xf16>) {
  ^bb0(%a: f16, %b: f32, %o: f16):
    %f = arith.extf %a : f16 to f32
    %d = arith.subf %f, %b : f32
    %q = arith.mulf %d, %b : f32
    %t = arith.truncf %q : f32 to f16
    linalg.yield %t : f16
  } -> tensor<32x64xf16>
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

// -----

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Read by something else too, so it is computed whatever the product does.
// CHECK-LABEL: func.func @returned(
//       CHECK:   %[[H:.*]] = linalg.generic
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @returned(%x: tensor<32x64xf16>, %r: tensor<32xf16>, %W: tensor<48x64xf16>) -> (tensor<32x48xf32>, tensor<32x64xf16>) {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<32x64xf16>
  %h = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<32x64xf16>, tensor<32xf16>) outs(%he : tensor<32x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %q = arith.mulf %a, %b : f16
    linalg.yield %q : f16
  } -> tensor<32x64xf16>
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
  return %p, %h : tensor<32x48xf32>, tensor<32x64xf16>
}

// -----

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A factor along k is added up with the products; and a result far larger than the operand would be multiplied instead.
// CHECK-LABEL: func.func @along_k(
//       CHECK:   %[[H:.*]] = linalg.generic
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @along_k(%x: tensor<32x64xf16>, %r: tensor<64xf16>, %W: tensor<48x64xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<32x64xf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<32x64xf16>, tensor<64xf16>) outs(%he : tensor<32x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %q = arith.mulf %a, %b : f16
    linalg.yield %q : f16
  } -> tensor<32x64xf16>
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

// CHECK-LABEL: func.func @wide(
//       CHECK:   %[[H:.*]] = linalg.generic
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @wide(%x: tensor<32x4xf16>, %r: tensor<32xf16>, %W: tensor<4096x4xf16>) -> tensor<32x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<32x4xf16>
  %h = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<32x4xf16>, tensor<32xf16>) outs(%he : tensor<32x4xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %q = arith.mulf %a, %b : f16
    linalg.yield %q : f16
  } -> tensor<32x4xf16>
  %wide = tensor.empty() : tensor<32x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<32x4096xf32>) -> tensor<32x4096xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<32x4xf16>, tensor<4096x4xf16>) outs(%start : tensor<32x4096xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %af = arith.extf %a : f16 to f32
    %bf = arith.extf %b : f16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<32x4096xf32>
  return %p : tensor<32x4096xf32>
}
