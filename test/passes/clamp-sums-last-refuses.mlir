// clamp-sums-last leaves alone sums of terms that may be negative, and those that may leave their type; it has no options.
// RUN: sed 's/EXTEND/extsi/; s/START/0/' %s | mlir-gemm opt - clamp-sums-last | FileCheck %s
// RUN: sed 's/EXTEND/extui/; s/START/2147483640/' %s | mlir-gemm opt - clamp-sums-last | FileCheck %s
// RUN: sed 's/EXTEND/extui/; s/START/-1/' %s | mlir-gemm opt - clamp-sums-last | FileCheck %s
// RUN: not mlir-gemm opt %s 'clamp-sums-last{limit=2}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error:

// CHECK-LABEL: func.func @left(
//       CHECK:   %[[S:.*]] = arith.addi
//       CHECK:   %[[M:.*]] = arith.minsi %[[S]]
//       CHECK:   linalg.yield %[[M]]
//   CHECK-NOT:   linalg.generic
func.func @left(%A: tensor<8x64xi8>) -> tensor<8xi32> {
  %start = arith.constant START : i32
  %e = tensor.empty() : tensor<8xi32>
  %i = linalg.fill ins(%start : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<8x64xi8>) outs(%i : tensor<8xi32>) {
  ^bb0(%a: i8, %c: i32):
    %limit = arith.constant 255 : i32
    %t = arith.EXTEND %a : i8 to i32
    %s = arith.addi %c, %t : i32
    %m = arith.minsi %s, %limit : i32
    linalg.yield %m : i32
  } -> tensor<8xi32>
  return %d : tensor<8xi32>
}
