// separate-zero-points leaves alone what reads its operands seldom, is no difference from one number, or is wider.
// RUN: mlir-gemm opt --split-input-file %s 'func.func(linalg-generalize-named-ops)' separate-zero-points | FileCheck %s

// CHECK-LABEL: func.func @few_rows(
// CHECK:       arith.subi
// CHECK:       arith.subi
// CHECK-NOT:   linalg.generic
func.func @few_rows(%a: tensor<4x64xi8>, %b: tensor<64x48xi8>, %za: i32, %zb: i32, %o: tensor<4x48xi32>) -> tensor<4x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<4x64xi8>, tensor<64x48xi8>, i32, i32)
      outs(%o : tensor<4x48xi32>) -> tensor<4x48xi32>
  return %0 : tensor<4x48xi32>
}

// -----

// CHECK-LABEL: func.func @wider(
// CHECK:       arith.subi
// CHECK-NOT:   linalg.generic
func.func @wider(%a: tensor<32x64xi16>, %b: tensor<64x48xi16>, %o: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %za = arith.constant 3 : i32
  %zb = arith.constant 0 : i32
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<32x64xi16>, tensor<64x48xi16>, i32, i32)
      outs(%o : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// -----

// A number for each column is a computed operand.
// CHECK-LABEL: func.func @by_columns(
// CHECK:       arith.subi
// CHECK-NOT:   linalg.generic
func.func @by_columns(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %z: tensor<48xi32>, %o: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<32x64xi8>, tensor<64x48xi8>, tensor<48xi32>) outs(%o : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %q: i32, %c: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.subi %1, %q : i32
    %3 = arith.muli %0, %2 : i32
    %4 = arith.addi %c, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
