// name-sizes{sizes=...}: the numbers themselves take the symbols' places.
// RUN: mlir-gemm opt %s 'name-sizes{sizes=s0=3,s1=5}' | FileCheck %s
// RUN: not mlir-gemm opt %s 'name-sizes{sizes=s0=3}' 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: the module's sizes are s0, s1; expected sizes=s0=16,s1=16
// CHECK-LABEL: func.func @flat(
//  CHECK-SAME:   %{{.*}}: tensor<3x5x8xf32>) -> tensor<15x8xf32>
//   CHECK-NOT:   tile.stand_ins
func.func @flat(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
