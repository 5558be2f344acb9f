// join-extensions leaves extensions of other types alone; it has no options.
// RUN: mlir-gemm opt %s join-extensions | FileCheck %s
// RUN: not mlir-gemm opt %s 'join-extensions{bits=8}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'join-extensions' has no option 'bits' (options: none)

// CHECK-LABEL: func.func @halves(
//       CHECK:   arith.extf %{{.*}} : f16 to f32
//  CHECK-NEXT:   arith.extf %{{.*}} : f32 to f64
func.func @halves(%a: tensor<4xf16>, %b: tensor<4xf64>) -> tensor<4xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf16>) outs(%b : tensor<4xf64>) {
  ^bb0(%x: f16, %y: f64):
    %1 = arith.extf %x : f16 to f32
    %2 = arith.extf %1 : f32 to f64
    linalg.yield %2 : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
