// multiply-remainders leaves other types and longer sums alone; it takes no other option than the precision.
// RUN: not mlir-gemm opt %s 'multiply-remainders{moduli=3}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: mlir-gemm opt %s 'multiply-remainders{precision=ozaki}' | FileCheck %s

// OPTION: error: pass 'multiply-remainders' has no option 'moduli' (options: precision)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Products of other types are left alone, and so is what multiplies nothing.
// CHECK-LABEL: func.func @others(
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x6xf16>)
//   CHECK-NOT:   xi8
func.func @others(%A: tensor<4x8xf16>, %B: tensor<8x6xf16>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x8xf16>, tensor<8x6xf16>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}

// 131,072 products of bytes might not fit the sum of 32 bits.
// CHECK-LABEL: func.func @long(
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x131072xf64>, tensor<131072x6xf64>)
//   CHECK-NOT:   xi8
func.func @long(%A: tensor<4x131072xf64>, %B: tensor<131072x6xf64>) -> tensor<4x6xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x6xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<4x6xf64>) -> tensor<4x6xf64>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x131072xf64>, tensor<131072x6xf64>) outs(%f : tensor<4x6xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<4x6xf64>
  return %p : tensor<4x6xf64>
}
