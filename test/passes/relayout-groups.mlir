// relayout-groups: rows of an operand and of the result lie along different dimensions of one group; a second run changes
// nothing.
// RUN: mlir-gemm opt %s relayout-groups | FileCheck %s
// RUN: mlir-gemm opt %s relayout-groups relayout-groups | FileCheck %s

// A has its rows along b, the result along a. The result is the smaller one: the product, with the conversion after it,
// leaves it in the order of A, and a copy that stays a kernel of its own lays it out.
// CHECK-LABEL: func.func @result(
//       CHECK:   linalg.fill {{.*}} -> tensor<24x384x384xf32>
//       CHECK:   %[[R:.*]] = linalg.generic
//  CHECK-SAME:     outs(%{{.*}} : tensor<24x384x384xf32>)
//       CHECK:   %[[E:.*]] = tensor.empty() : tensor<384x24x384xf16>
//       CHECK:   %[[T:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<24x384x384xf32>) outs(%[[E]] :
//       CHECK:     arith.truncf
//       CHECK:   %[[C:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<384x24x384xf16>)
//  CHECK-SAME:     outs(%{{.*}} : tensor<24x384x384xf16>)
//  CHECK-SAME:     tile.apart
//  CHECK-SAME:     tile.note = "the result of a product leaves it in the order of an operand, and is laid out anew
//       CHECK:   return %[[C]]
func.func @result(%A: tensor<384x384x384xf16>, %B: tensor<24x384xf16>) -> tensor<24x384x384xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x384x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x384x384xf32>) -> tensor<24x384x384xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, b, a, k) -> (a, k, b)>, affine_map<(j, b, a, k) -> (j, k)>,
                                        affine_map<(j, b, a, k) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<384x384x384xf16>, tensor<24x384xf16>) outs(%f : tensor<24x384x384xf32>) {
  ^bb0(%x: f16, %y: f16, %c: f32):
    %l = arith.extf %x : f16 to f32
    %m = arith.extf %y : f16 to f32
    %p = arith.mulf %l, %m : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x384x384xf32>
  %n = tensor.empty() : tensor<24x384x384xf16>
  %o = linalg.generic {indexing_maps = [affine_map<(j, b, a) -> (j, b, a)>, affine_map<(j, b, a) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<24x384x384xf32>) outs(%n : tensor<24x384x384xf16>) {
  ^bb0(%x: f32, %y: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<24x384x384xf16>
  return %o : tensor<24x384x384xf16>
}

// Without an operation after it the product itself writes the other order, from the same start.
// CHECK-LABEL: func.func @alone(
//       CHECK:   %[[F:.*]] = linalg.fill {{.*}} -> tensor<384x24x384xf32>
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} outs(%[[F]] :
//       CHECK:   linalg.generic {{.*}} ins(%[[R]] : tensor<384x24x384xf32>)
//  CHECK-SAME:     tile.apart
func.func @alone(%A: tensor<384x384x384xf32>, %B: tensor<24x384xf32>) -> tensor<24x384x384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x384x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x384x384xf32>) -> tensor<24x384x384xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, b, a, k) -> (a, k, b)>, affine_map<(j, b, a, k) -> (j, k)>,
                                        affine_map<(j, b, a, k) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<384x384x384xf32>, tensor<24x384xf32>) outs(%f : tensor<24x384x384xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x384x384xf32>
  return %r : tensor<24x384x384xf32>
}

// The result is 20 times as large as A: A is laid out anew, in the order of the result, its k before the result's rows.
// CHECK-LABEL: func.func @operand(
//  CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<512x16x512xf32>
//       CHECK:   tensor.empty() : tensor<16x512x512xf32>
//       CHECK:   %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<512x16x512xf32>)
//  CHECK-SAME:     tile.note = "operand A of a product is laid out anew, in the order of its result
//       CHECK:   linalg.generic {{.*}} ins({{.*}}%[[COPY]] : {{.*}} outs(%{{.*}} : tensor<320x512x512xf32>)
func.func @operand(%A: tensor<512x16x512xf32>, %B: tensor<320x16xf32>) -> tensor<320x512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<320x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<320x512x512xf32>) -> tensor<320x512x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, b, a, k) -> (a, k, b)>, affine_map<(j, b, a, k) -> (j, k)>,
                                        affine_map<(j, b, a, k) -> (j, b, a)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<512x16x512xf32>, tensor<320x16xf32>) outs(%f : tensor<320x512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<320x512x512xf32>
  return %r : tensor<320x512x512xf32>
}
