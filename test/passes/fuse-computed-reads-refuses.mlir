// fuse-computed-reads leaves alone what a kernel with reductions takes in, and what would be computed too often; it has no options.
// RUN: mlir-gemm opt --split-input-file %s fuse-computed-reads | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'fuse-computed-reads{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fuse-computed-reads' has no option 'most' (options: none)

#v = affine_map<(j) -> (j)>
#one = affine_map<(j) -> ()>

// The squares belong to the kernel of their sum, which reads no computed places.
// CHECK-LABEL: func.func @squares(
//       CHECK:   %[[S:.*]] = linalg.generic
//       CHECK:     tensor.extract
//       CHECK:   linalg.generic {{.*}} ins(%[[S]] :
//       CHECK:     arith.mulf
func.func @squares(%x: tensor<64xf32>, %at: tensor<64xi64>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<64xi64>)
      outs(%e : tensor<64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %r = tensor.extract %x[%i] : tensor<64xf32>
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%s : tensor<64xf32>)
      outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %re = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%re : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#v, #one], iterator_types = ["reduction"]} ins(%q : tensor<64xf32>)
      outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.addf %a, %acc : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

#v = affine_map<(j) -> (j)>

// A function stays where it is computed once, and a check where it is made.
// CHECK-LABEL: func.func @function(
//       CHECK:   math.exp
//       CHECK:   linalg.generic
//       CHECK:     cf.assert
//       CHECK:     tensor.extract
//       CHECK:   linalg.generic
//       CHECK:     arith.addf
func.func @function(%x: tensor<64xf32>, %at: tensor<64xi64>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>)
      outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<64xi64>)
      outs(%e : tensor<64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %none = arith.constant 0 : i64
    %inside = arith.cmpi sge, %a, %none : i64
    cf.assert %inside, "negative"
    %r = tensor.extract %f[%i] : tensor<64xf32>
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%s, %x : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %q : tensor<64xf32>
}
