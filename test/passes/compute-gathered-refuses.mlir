// compute-gathered leaves alone what is needed in memory, or cheaper to read there; it has no options.
// RUN: mlir-gemm opt --split-input-file %s compute-gathered | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'compute-gathered{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'compute-gathered' has no option 'most' (options: none)

#mn = affine_map<(m, n) -> (m, n)>
#i = affine_map<(m) -> (m)>

// The table is a result too, so it is written whatever the gather does.
// CHECK-LABEL: func.func @returned(
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}}tile.kernel = 0
//       CHECK:   tensor.extract %[[T]]
func.func @returned(%A: tensor<8x60xf32>, %index: tensor<2xi64>) -> (tensor<2xf32>, tensor<8x60xf32>) {
  %all = tensor.empty() : tensor<8x60xf32>
  %few = tensor.empty() : tensor<2xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<8x60xf32>) outs(%all : tensor<8x60xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.absf %x : f32
    linalg.yield %r : f32
  } -> tensor<8x60xf32>
  %g = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%index : tensor<2xi64>) outs(%few : tensor<2xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: i64, %o: f32):
    %j = arith.index_cast %x : i64 to index
    %r = tensor.extract %t[%j, %j] : tensor<8x60xf32>
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %g, %t : tensor<2xf32>, tensor<8x60xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#i = affine_map<(m) -> (m)>

// Every element is read more than once: it is computed once.
// CHECK-LABEL: func.func @small_table(
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}}tile.kernel = 0
//       CHECK:   tensor.extract %[[T]]
func.func @small_table(%A: tensor<4x4xf32>, %index: tensor<60xi64>) -> tensor<60xf32> {
  %all = tensor.empty() : tensor<4x4xf32>
  %few = tensor.empty() : tensor<60xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<4x4xf32>) outs(%all : tensor<4x4xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f32):
    %r = math.absf %x : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %g = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%index : tensor<60xi64>) outs(%few : tensor<60xf32>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: i64, %o: f32):
    %j = arith.index_cast %x : i64 to index
    %r = tensor.extract %t[%j, %j] : tensor<4x4xf32>
    linalg.yield %r : f32
  } -> tensor<60xf32>
  return %g : tensor<60xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#i = affine_map<(m) -> (m)>

// A product's epilogue: without it the product would write sums that are as large.
// CHECK-LABEL: func.func @epilogue(
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}}"parallel"]}{{.*}}tile.kernel = 0
//       CHECK:   tensor.extract %[[T]]
func.func @epilogue(%A: tensor<8x16xf16>, %B: tensor<16x60xf16>, %index: tensor<2xi64>) -> tensor<2xf16> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<8x60xf32>
  %start = linalg.fill ins(%zero : f32) outs(%wide : tensor<8x60xf32>) -> tensor<8x60xf32>
  %all = tensor.empty() : tensor<8x60xf16>
  %few = tensor.empty() : tensor<2xf16>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<8x16xf16>, tensor<16x60xf16>) outs(%start : tensor<8x60xf32>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %af = arith.extf %a : f16 to f32
    %bf = arith.extf %b : f16 to f32
    %ab = arith.mulf %af, %bf : f32
    %r = arith.addf %acc, %ab : f32
    linalg.yield %r : f32
  } -> tensor<8x60xf32>
  %t = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x60xf32>) outs(%all : tensor<8x60xf16>) attrs = {tile.kernel = 0 : i64} {
  ^bb0(%x: f32, %o: f16):
    %r = arith.truncf %x : f32 to f16
    linalg.yield %r : f16
  } -> tensor<8x60xf16>
  %g = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%index : tensor<2xi64>) outs(%few : tensor<2xf16>) attrs = {tile.kernel = 1 : i64} {
  ^bb0(%x: i64, %o: f16):
    %j = arith.index_cast %x : i64 to index
    %r = tensor.extract %t[%j, %j] : tensor<8x60xf16>
    linalg.yield %r : f16
  } -> tensor<2xf16>
  return %g : tensor<2xf16>
}
