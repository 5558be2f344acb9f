// multiply-integers: bytes that were converted and scaled are multiplied as bytes; sums are converted and scaled.
// RUN: mlir-gemm opt --split-input-file %s multiply-integers | FileCheck %s

// CHECK-LABEL: func.func @dequantised(
// CHECK-SAME:  %[[A:.*]]: tensor<32x64xi8>, %[[B:.*]]: tensor<48x64xi8>, %[[S:.*]]: f32
// CHECK:       %[[SUMS:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[A]], %[[B]] : tensor<32x64xi8>, tensor<48x64xi8>) outs(%{{.*}} : tensor<32x48xi32>)
// CHECK:         %[[X:.*]] = arith.extsi
// CHECK:         %[[Z:.*]] = arith.constant -4 : i32
// CHECK:         arith.subi %[[X]], %[[Z]]
// CHECK:         arith.extui
// CHECK:         arith.muli
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[SUMS]], %[[S]] : tensor<32x48xi32>, f32)
// CHECK:         %[[F:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK:         %[[C:.*]] = arith.constant 3.125000e-02 : f32
// CHECK:         arith.mulf %[[F]], %[[C]]
// CHECK:         arith.mulf
func.func @dequantised(%a: tensor<32x64xi8>, %b: tensor<48x64xi8>, %s: f32) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %scale = arith.constant 0.03125 : f32
  %zero_point = arith.constant -4 : i32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> ()>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %s : tensor<32x64xi8>, tensor<48x64xi8>, f32) outs(%f : tensor<32x48xf32>) {
  ^bb0(%x: i8, %y: i8, %t: f32, %c: f32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.subi %0, %zero_point : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %scale : f32
    %4 = arith.uitofp %y : i8 to f32
    %5 = arith.mulf %4, %t : f32
    %6 = arith.mulf %3, %5 : f32
    %7 = arith.addf %c, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}
