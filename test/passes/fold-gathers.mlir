// fold-gathers: gathers at places that constants say become reshapes and operands; a second run changes nothing.
// RUN: mlir-gemm opt --split-input-file %s fold-gathers | FileCheck %s
// RUN: mlir-gemm opt --split-input-file %s fold-gathers fold-gathers | FileCheck %s

// A weight for each channel of each group, as torch-mlir indexes it: channel j is number j mod 2 of group j / 2.
// CHECK-LABEL: func.func @channels(
//  CHECK-SAME:   %[[W:.*]]: tensor<3x2x1xf32>)
//       CHECK:   %[[R:.*]] = tensor.collapse_shape %[[W]] {{\[}}[0, 1, 2]] : tensor<3x2x1xf32> into tensor<6xf32>
//   CHECK-NOT:   tensor.extract
//       CHECK:   return %[[R]]
func.func @channels(%w: tensor<3x2x1xf32>) -> tensor<6xf32> {
  %groups = arith.constant dense<[0, 0, -2, 1, 2, 2]> : tensor<6xi64>
  %members = arith.constant dense<[0, 1, 0, 1, 0, 1]> : tensor<6xi64>
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>, affine_map<(j) -> (j)>],
      iterator_types = ["parallel"]} ins(%groups, %members : tensor<6xi64>, tensor<6xi64>) outs(%e : tensor<6xf32>) {
  ^bb0(%g: i64, %m: i64, %o: f32):
    %zero = arith.constant 0 : index
    %none = arith.constant 0 : i64
    %three = arith.constant 3 : i64
    %negative = arith.cmpi slt, %g, %none : i64
    %wrapped = arith.addi %g, %three : i64
    %group = arith.select %negative, %wrapped, %g : i64
    %i = arith.index_cast %group : i64 to index
    %k = arith.index_cast %m : i64 to index
    %x = tensor.extract %w[%i, %k, %zero] : tensor<3x2x1xf32>
    linalg.yield %x : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// Each place is the position of a loop: an operand, read along the others again and again.
// CHECK-LABEL: func.func @rows(
//  CHECK-SAME:   %[[W:.*]]: tensor<4x1xf16>)
//       CHECK:   linalg.generic {indexing_maps = [#[[M:.*]], #{{.*}}], {{.*}} ins(%[[W]] : tensor<4x1xf16>)
//   CHECK-NOT:     tensor.extract
//       CHECK:     linalg.yield %{{.*}} : f16
func.func @rows(%w: tensor<4x1xf16>) -> tensor<3x4xf16> {
  %at = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %e = tensor.empty() : tensor<3x4xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%at : tensor<4xi64>) outs(%e : tensor<3x4xf16>) {
  ^bb0(%a: i64, %o: f16):
    %zero = arith.constant 0 : index
    %i = arith.index_cast %a : i64 to index
    %x = tensor.extract %w[%i, %zero] : tensor<4x1xf16>
    linalg.yield %x : f16
  } -> tensor<3x4xf16>
  return %r : tensor<3x4xf16>
}
