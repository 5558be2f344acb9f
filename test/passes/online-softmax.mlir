// online-softmax: the maximum of long rows and the sum of exponentials after it are found in one pass; a second run changes
// nothing.
// RUN: mlir-gemm opt %s 'online-softmax{least=4}' | FileCheck %s
// RUN: mlir-gemm opt %s 'online-softmax{least=4}' 'online-softmax{least=4}' | FileCheck %s
// RUN: mlir-gemm opt %s online-softmax | FileCheck %s --check-prefix=SHORT

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// One reduction has both: of the two sides the one with the smaller maximum is scaled. What is infinite or NaN makes the
// sum NaN, as the exponentials would. Each is taken from what the rows are computed from.
// CHECK-LABEL: func.func @rows(
//       CHECK:   %[[R:.*]]:2 = linalg.generic {{{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<2x600xf16>)
//       CHECK:   ^bb0(%[[IN:.*]]: f16, %[[M:.*]]: f32, %[[S:.*]]: f32):
//       CHECK:     %[[X:.*]] = arith.extf %[[IN]]
//       CHECK:     %[[MOST:.*]] = arith.maximumf %[[X]], %[[M]]
//       CHECK:     %[[D:.*]] = arith.subf %[[X]], %[[M]]
//       CHECK:     math.absf %[[D]]
//       CHECK:     %[[F:.*]] = math.exp
//       CHECK:     arith.mulf %[[S]], %[[F]]
//       CHECK:     arith.cmpf ogt, %[[X]], %[[M]]
//       CHECK:     %[[SUM:.*]] = arith.select
//       CHECK:     linalg.yield %[[MOST]], %[[SUM]]
//       CHECK:   linalg.generic {{{.*}}} ins(%[[R]]#1, %[[R]]#0 :
//       CHECK:     arith.subf
//       CHECK:     arith.addf
//   CHECK-NOT:   "reduction"
//       CHECK:   return

// SHORT-NOT: math.absf
func.func @rows(%a: tensor<2x600xf16>) -> tensor<2x600xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<2x600xf32>
  %starts = linalg.fill ins(%least : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %most = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x600xf16>) outs(%starts : tensor<2xf32>) {
  ^bb0(%x0: f16, %m: f32):
    %x = arith.extf %x0 : f16 to f32
    %r = arith.maximumf %x, %m : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %wide = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x600xf16>) outs(%e : tensor<2x600xf32>) {
  ^bb0(%x0: f16, %o: f32):
    %x = arith.extf %x0 : f16 to f32
    linalg.yield %x : f32
  } -> tensor<2x600xf32>
  %powers = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %most : tensor<2x600xf32>, tensor<2xf32>) outs(%e : tensor<2x600xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x600xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<2x600xf32>) outs(%none : tensor<2xf32>) {
  ^bb0(%p: f32, %s: f32):
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %result = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %sum : tensor<2x600xf32>, tensor<2xf32>) outs(%e : tensor<2x600xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %q = arith.divf %p, %s : f32
    linalg.yield %q : f32
  } -> tensor<2x600xf32>
  return %result : tensor<2x600xf32>
}
