// emulate-products leaves other types alone; it takes no other option than the precision.
// RUN: not mlir-gemm opt %s 'emulate-products{terms=3}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: mlir-gemm opt %s 'emulate-products{precision=3xtf32}' | FileCheck %s

// OPTION: error: pass 'emulate-products' has no option 'terms' (options: precision)

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Products of other types are left alone, and so is what multiplies nothing.
// CHECK-LABEL: func.func @others(
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x6xf16>)
//   CHECK-NOT:   tile.emulated
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
