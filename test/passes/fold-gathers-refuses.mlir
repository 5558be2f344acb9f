// fold-gathers leaves alone what is no view; it has no options.
// RUN: mlir-gemm opt --split-input-file %s fold-gathers | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'fold-gathers{most=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'fold-gathers' has no option 'most' (options: none)

#v = affine_map<(j) -> (j)>

// Places that an argument says are known at run time only.
// CHECK-LABEL: func.func @embedding(
//       CHECK:   tensor.extract
func.func @embedding(%w: tensor<6xf32>, %at: tensor<6xi64>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<6xi64>)
      outs(%e : tensor<6xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %x = tensor.extract %w[%i] : tensor<6xf32>
    linalg.yield %x : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

#v = affine_map<(j) -> (j)>

// Backwards is no view, twice the same place neither.
// CHECK-LABEL: func.func @flip(
//       CHECK:   tensor.extract
//       CHECK:   tensor.extract
func.func @flip(%w: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %back = arith.constant dense<[2, 1, 0]> : tensor<3xi64>
  %twice = arith.constant dense<[0, 0, 2]> : tensor<3xi64>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%back : tensor<3xi64>)
      outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %x = tensor.extract %w[%i] : tensor<3xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%twice : tensor<3xi64>)
      outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %x = tensor.extract %w[%i] : tensor<3xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r, %s : tensor<3xf32>, tensor<3xf32>
}

// -----

#v = affine_map<(j) -> (j)>

// Out of bounds is for those to say who run it.
// CHECK-LABEL: func.func @beyond(
//       CHECK:   tensor.extract
func.func @beyond(%w: tensor<3xf32>) -> tensor<3xf32> {
  %at = arith.constant dense<[0, 1, 3]> : tensor<3xi64>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%at : tensor<3xi64>)
      outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %x = tensor.extract %w[%i] : tensor<3xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
