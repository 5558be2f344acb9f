// move-k-factors leaves alone what would gain nothing, or leave its type's range; it has no options.
// RUN: mlir-gemm opt --split-input-file %s move-k-factors | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'move-k-factors{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'move-k-factors' has no option 'most' (options: none)

#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Weights may be too small for f16 once they are multiplied by what makes outliers of X small.
// CHECK-LABEL: func.func @half(
//       CHECK:   %[[H:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16384x1024xf16>, tensor<1024xf16>)
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @half(%x: tensor<16384x1024xf16>, %w: tensor<1024xf16>, %W: tensor<128x1024xf16>) -> tensor<16384x128xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<16384x1024xf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<16384x1024xf16>, tensor<1024xf16>) outs(%he : tensor<16384x1024xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %q = arith.mulf %a, %b : f16
    linalg.yield %q : f16
  } -> tensor<16384x1024xf16>
  %wide = tensor.empty() : tensor<16384x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<16384x128xf32>) -> tensor<16384x128xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<16384x1024xf16>, tensor<128x1024xf16>) outs(%start : tensor<16384x128xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %af = arith.extf %a : f16 to f32
    %bf = arith.extf %b : f16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<16384x128xf32>
  return %p : tensor<16384x128xf32>
}

// The other operand is as large.
// CHECK-LABEL: func.func @square(
//       CHECK:   %[[H:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16384x1024xbf16>, tensor<1024xbf16>)
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @square(%x: tensor<16384x1024xbf16>, %w: tensor<1024xbf16>, %W: tensor<16384x1024xbf16>) -> tensor<16384x16384xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<16384x1024xbf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<16384x1024xbf16>, tensor<1024xbf16>) outs(%he : tensor<16384x1024xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.mulf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<16384x1024xbf16>
  %wide = tensor.empty() : tensor<16384x16384xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<16384x16384xf32>) -> tensor<16384x16384xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<16384x1024xbf16>, tensor<16384x1024xbf16>) outs(%start : tensor<16384x16384xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<16384x16384xf32>
  return %p : tensor<16384x16384xf32>
}

// Another kernel would take longer to start than this product takes.
// CHECK-LABEL: func.func @small(
//       CHECK:   %[[H:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x1024xbf16>, tensor<1024xbf16>)
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[H]],
func.func @small(%x: tensor<64x1024xbf16>, %w: tensor<1024xbf16>, %W: tensor<8x1024xbf16>) -> tensor<64x8xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<64x1024xbf16>
  %h = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<64x1024xbf16>, tensor<1024xbf16>) outs(%he : tensor<64x1024xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.mulf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<64x1024xbf16>
  %wide = tensor.empty() : tensor<64x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<64x8xf32>) -> tensor<64x8xf32>
  %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %W : tensor<64x1024xbf16>, tensor<8x1024xbf16>) outs(%start : tensor<64x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %ab = arith.mulf %af, %bf : f32
    %t = arith.addf %acc, %ab : f32
    linalg.yield %t : f32
  } -> tensor<64x8xf32>
  return %p : tensor<64x8xf32>
}
