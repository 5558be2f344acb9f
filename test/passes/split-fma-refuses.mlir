// split-fma refuses nothing: it leaves what is no vector.fma alone. It has no options.
// RUN: mlir-gemm opt %s split-fma | FileCheck %s
// RUN: not mlir-gemm opt %s 'split-fma{a=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'split-fma' has no option 'a' (options: none)
// CHECK: math.fma %{{.*}} : vector<2xf32>
func.func @other(%v: vector<2xf32>) -> vector<2xf32> {
  %0 = math.fma %v, %v, %v : vector<2xf32>
  return %0 : vector<2xf32>
}
