// recompute-row-parts leaves alone what costs more than it saves, or saves nothing; it has no options.
// RUN: mlir-gemm opt --split-input-file %s recompute-row-parts | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'recompute-row-parts{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'recompute-row-parts' has no option 'most' (options: none)

#e = affine_map<(i, c, j) -> (i, c, j)>
#r = affine_map<(i, c, j) -> (i)>
#part = affine_map<(i, c, j) -> (i, c)>
#p = affine_map<(i, c) -> (i, c)>
#pr = affine_map<(i, c) -> (i)>
#pw = affine_map<(i, c) -> (c)>

// A function of the weight would be computed for each element.
// CHECK-LABEL: func.func @functions(
//       CHECK:   %[[F:.*]] = linalg.generic {{.*}}["parallel", "parallel"]}
//       CHECK:     math.rsqrt
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[F]] :
func.func @functions(%x: tensor<32x4x60xf32>, %w: tensor<4xf32>) -> tensor<32x4x60xf32> {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%re : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x4x60xf32>) outs(%start : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %pe = tensor.empty() : tensor<32x4xf32>
  %f = linalg.generic {indexing_maps = [#pr, #pw, #p], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %w : tensor<32xf32>, tensor<4xf32>) outs(%pe : tensor<32x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = math.rsqrt %a : f32
    %v = math.exp %b : f32
    %t = arith.mulf %i, %v : f32
    linalg.yield %t : f32
  } -> tensor<32x4xf32>
  %ye = tensor.empty() : tensor<32x4x60xf32>
  %y = linalg.generic {indexing_maps = [#e, #part, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %f : tensor<32x4x60xf32>, tensor<32x4xf32>) outs(%ye : tensor<32x4x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4x60xf32>
  return %y : tensor<32x4x60xf32>
}

// -----

#e = affine_map<(i, c, j) -> (i, c, j)>
#r = affine_map<(i, c, j) -> (i)>
#part = affine_map<(i, c, j) -> (i, c)>
#p = affine_map<(i, c) -> (i, c)>
#pr = affine_map<(i, c) -> (i)>
#pw = affine_map<(i, c) -> (c)>

// Each step of few and long rows is a kernel of its own.
// CHECK-LABEL: func.func @few(
//       CHECK:   %[[F:.*]] = linalg.generic {{.*}}["parallel", "parallel"]}
//       CHECK:     math.rsqrt
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[F]] :
func.func @few(%x: tensor<2x4x1000000xf32>, %w: tensor<4xf32>) -> tensor<2x4x1000000xf32> {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%re : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<2x4x1000000xf32>) outs(%start : tensor<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %pe = tensor.empty() : tensor<2x4xf32>
  %f = linalg.generic {indexing_maps = [#pr, #pw, #p], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %w : tensor<2xf32>, tensor<4xf32>) outs(%pe : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = math.rsqrt %a : f32
    %t = arith.mulf %i, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4xf32>
  %ye = tensor.empty() : tensor<2x4x1000000xf32>
  %y = linalg.generic {indexing_maps = [#e, #part, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %f : tensor<2x4x1000000xf32>, tensor<2x4xf32>) outs(%ye : tensor<2x4x1000000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4x1000000xf32>
  return %y : tensor<2x4x1000000xf32>
}

// -----

#e = affine_map<(i, c, j) -> (i, c, j)>
#r = affine_map<(i, c, j) -> (i)>
#part = affine_map<(i, c, j) -> (i, c)>
#p = affine_map<(i, c) -> (i, c)>
#pr = affine_map<(i, c) -> (i)>
#pw = affine_map<(i, c) -> (c)>

// What a result of the function holds is in memory anyway.
// CHECK-LABEL: func.func @kept(
//       CHECK:   %[[F:.*]] = linalg.generic {{.*}}["parallel", "parallel"]}
//       CHECK:     math.rsqrt
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[F]] :
func.func @kept(%x: tensor<32x4x60xf32>, %w: tensor<4xf32>) -> (tensor<32x4x60xf32>, tensor<32x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%re : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x4x60xf32>) outs(%start : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %pe = tensor.empty() : tensor<32x4xf32>
  %f = linalg.generic {indexing_maps = [#pr, #pw, #p], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %w : tensor<32xf32>, tensor<4xf32>) outs(%pe : tensor<32x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = math.rsqrt %a : f32
    %t = arith.mulf %i, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4xf32>
  %ye = tensor.empty() : tensor<32x4x60xf32>
  %y = linalg.generic {indexing_maps = [#e, #part, #e], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %f : tensor<32x4x60xf32>, tensor<32x4xf32>) outs(%ye : tensor<32x4x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<32x4x60xf32>
  return %y, %f : tensor<32x4x60xf32>, tensor<32x4xf32>
}
