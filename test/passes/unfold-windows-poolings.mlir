// unfold-windows: a pooling reads its windows in place, element by element of the result; large windows are copied.
// RUN: mlir-gemm opt --split-input-file %s 'func.func(linalg-generalize-named-ops)' unfold-windows | FileCheck %s

// CHECK-LABEL: func.func @largest(
// CHECK-SAME:  %[[X:.*]]: tensor<2x8x8x16xf16>
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(
// CHECK-COUNT-4: tensor.extract %[[X]]
// CHECK-NOT:   tensor.extract
// CHECK-NOT:   reduction
func.func @largest(%x: tensor<2x8x8x16xf16>) -> tensor<2x4x4x16xf16> {
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<2x4x4x16xf16>
  %start = linalg.fill ins(%low : f16) outs(%e : tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
  %window = tensor.empty() : tensor<2x2xf16>
  %0 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %window : tensor<2x8x8x16xf16>, tensor<2x2xf16>) outs(%start : tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
  return %0 : tensor<2x4x4x16xf16>
}

// -----

// Narrow floats are added up in f32, from a start that is loaded.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:  %[[X:.*]]: tensor<9x16xf16>, %[[START:.*]]: tensor<7x16xf16>
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[START]] : tensor<7x16xf16>)
// CHECK:       arith.extf
// CHECK-COUNT-3: arith.addf %{{.*}} : f32
// CHECK:       arith.truncf
func.func @sum(%x: tensor<9x16xf16>, %start: tensor<7x16xf16>) -> tensor<7x16xf16> {
  %window = tensor.empty() : tensor<3xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, c, u) -> (i + u, c)>, affine_map<(i, c, u) -> (u)>,
                                        affine_map<(i, c, u) -> (i, c)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %window : tensor<9x16xf16>, tensor<3xf16>) outs(%start : tensor<7x16xf16>) {
  ^bb0(%v: f16, %w: f16, %t: f16):
    %s = arith.addf %t, %v : f16
    linalg.yield %s : f16
  } -> tensor<7x16xf16>
  return %0 : tensor<7x16xf16>
}

// -----

// The largest and its place in the window: two results.
// CHECK-LABEL: func.func @place(
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%{{.*}}, %{{.*}} : tensor<6xf32>, tensor<6xi32>)
// CHECK-COUNT-3: arith.cmpf ogt
func.func @place(%x: tensor<8xf32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6xf32>
  %i = tensor.empty() : tensor<6xi32>
  %values = linalg.fill ins(%low : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %places = linalg.fill ins(%none : i32) outs(%i : tensor<6xi32>) -> tensor<6xi32>
  %window = tensor.empty() : tensor<3xf32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, u) -> (i + u)>, affine_map<(i, u) -> (u)>,
                                          affine_map<(i, u) -> (i)>, affine_map<(i, u) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %window : tensor<8xf32>, tensor<3xf32>) outs(%values, %places : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%v: f32, %w: f32, %m: f32, %p: i32):
    %u = linalg.index 1 : index
    %n = arith.index_cast %u : index to i32
    %more = arith.cmpf ogt, %v, %m : f32
    %a = arith.select %more, %v, %m : f32
    %b = arith.select %more, %n, %p : i32
    linalg.yield %a, %b : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xi32>
}

// -----

// CHECK-LABEL: func.func @large(
// CHECK:       tensor.extract
// CHECK:       linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
func.func @large(%x: tensor<300xf32>, %start: tensor<100xf32>) -> tensor<100xf32> {
  %window = tensor.empty() : tensor<201xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, u) -> (i + u)>, affine_map<(i, u) -> (u)>, affine_map<(i, u) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %window : tensor<300xf32>, tensor<201xf32>) outs(%start : tensor<100xf32>) {
  ^bb0(%v: f32, %w: f32, %t: f32):
    %s = arith.addf %t, %v : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
