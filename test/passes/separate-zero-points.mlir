// separate-zero-points: bytes are multiplied as they are; what their zero points add is taken from the result.
// RUN: mlir-gemm opt --split-input-file %s 'func.func(linalg-generalize-named-ops)' separate-zero-points | FileCheck %s

// CHECK-LABEL: func.func @both(
// CHECK-SAME:  %[[A:.*]]: tensor<32x64xi8>, %[[B:.*]]: tensor<64x48xi8>, %[[ZA:.*]]: i32, %[[START:.*]]: tensor<32x48xi32>
// CHECK:       %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[START]]
// CHECK-NOT:   arith.subi
// CHECK:       arith.muli
// CHECK:       %[[COLUMNS:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[B]] : tensor<64x48xi8>)
// CHECK-NOT:   arith.subi
// CHECK:       %[[ROWS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[A]], %[[ZA]] : tensor<32x64xi8>, i32)
// CHECK:       arith.subi
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[COLUMNS]], %[[ZA]], %[[ROWS]] : {{.*}})
// CHECK:       %[[C3:.*]] = arith.constant 3 : i32
// CHECK:       arith.muli %{{.*}}, %[[C3]]
func.func @both(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %za: i32, %start: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %zb = arith.constant 3 : i32
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<32x64xi8>, tensor<64x48xi8>, i32, i32)
      outs(%start : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// -----

// A zero point of 0 takes nothing; of the weights of a convolution one sum is left.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:  %[[X:.*]]: tensor<2x10x10x16xi8>, %[[W:.*]]: tensor<3x3x16x32xi8>
// CHECK:       linalg.generic {{.*}} ins(%[[X]], %[[W]] : {{.*}})
// CHECK:       linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%[[W]] :
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
// CHECK-NOT:   linalg.generic
func.func @convolution(%x: tensor<2x10x10x16xi8>, %w: tensor<3x3x16x32xi8>, %o: tensor<2x8x8x32xi32>) -> tensor<2x8x8x32xi32> {
  %zx = arith.constant -5 : i32
  %zw = arith.constant 0 : i32
  %0 = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %zx, %zw : tensor<2x10x10x16xi8>, tensor<3x3x16x32xi8>, i32, i32)
      outs(%o : tensor<2x8x8x32xi32>) -> tensor<2x8x8x32xi32>
  return %0 : tensor<2x8x8x32xi32>
}

// -----

// Of an image, the channels are added up first, then the windows of what is left.
// CHECK-LABEL: func.func @image(
// CHECK-SAME:  %[[X:.*]]: tensor<2x10x10x16xi8>
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]] :
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[SUM]], %{{.*}} : tensor<2x10x10xi32>, tensor<3x3xi32>)
func.func @image(%x: tensor<2x10x10x16xi8>, %w: tensor<3x3x16x32xi8>, %o: tensor<2x8x8x32xi32>) -> tensor<2x8x8x32xi32> {
  %zx = arith.constant 0 : i32
  %zw = arith.constant 7 : i32
  %0 = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %zx, %zw : tensor<2x10x10x16xi8>, tensor<3x3x16x32xi8>, i32, i32)
      outs(%o : tensor<2x8x8x32xi32>) -> tensor<2x8x8x32xi32>
  return %0 : tensor<2x8x8x32xi32>
}
