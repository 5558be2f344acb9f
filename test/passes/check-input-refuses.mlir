// check-input names the place and what would be right. Each case is run alone; test_bad_input.py has more of them.
// RUN: sed '/^func.func @types(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: sed '/^func.func @index(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: sed '/^func.func @reduction(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=REDUCTION
// RUN: sed '/^func.func @transposed(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: sed '/^func.func @dynamic(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: sed '/^func.func @twice(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed '/^func.func @untouched(/,/^}/!s/.*//' %s | not mlir-gemm opt - check-input 2>&1 | FileCheck %s --check-prefix=UNTOUCHED
// RUN: not mlir-gemm opt %s check-input 2>&1 | FileCheck %s --check-prefix=FUNCTIONS

func.func @types(%A: memref<32x32xbf16>, %B: memref<32x48xbf16>, %C: memref<32x48xf32>) {
  // TYPES: -:[[# @LINE + 1]]:3: error: operand A of linalg.matmul has element type bf16; supported: f16
  linalg.matmul ins(%A, %B : memref<32x32xbf16>, memref<32x48xbf16>) outs(%C : memref<32x48xf32>)
  return
}

// FUNCTIONS: check-input-refuses.mlir:[[# @LINE + 1]]:1: error: the module has more than one function; expected one that holds one linalg.matmul
func.func @index(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>, %D: memref<32x48xindex>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%D : memref<32x48xindex>) {
  ^bb0(%d: index):
    // INDEX: -:[[# @LINE + 1]]:10: error: 'linalg.index' inside a linalg.generic; only arith and math operations are fused
    %m = linalg.index 0 : index
    linalg.yield %m : index
  }
  return
}

func.func @reduction(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>, %D: memref<32xf32>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  // REDUCTION: -:[[# @LINE + 1]]:3: error: a linalg.generic with a reduction; only elementwise ones
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%C : memref<32x48xf32>) outs(%D : memref<32xf32>) {
  ^bb0(%c: f32, %d: f32):
    %sum = arith.addf %c, %d : f32
    linalg.yield %sum : f32
  }
  return
}

func.func @transposed(%A: memref<32x32xf16>, %B: memref<32x32xf16>, %C: memref<32x32xf32>, %D: memref<32x32xf32>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x32xf16>) outs(%C : memref<32x32xf32>)
  // TRANSPOSED: -:[[# @LINE + 1]]:3: error: a linalg.generic with indexing map (d0, d1) -> (d1, d0); only identity maps
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%C : memref<32x32xf32>) outs(%D : memref<32x32xf32>) {
  ^bb0(%c: f32, %d: f32):
    linalg.yield %c : f32
  }
  return
}

// DYNAMIC: -:[[# @LINE + 1]]:1: error: argument 3 has dynamic sizes (memref<?x?xf32>); sizes must be static
func.func @dynamic(%A: memref<32x32xf16>, %B: memref<32x48xf16>, %C: memref<32x48xf32>, %D: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<32x32xf16>, memref<32x48xf16>) outs(%C : memref<32x48xf32>)
  memref.copy %C, %D : memref<32x48xf32> to memref<?x?xf32>
  return
}

func.func @twice(%A: tensor<32x32xf16>, %B: tensor<32x48xf16>, %C: tensor<32x48xf32>)
    -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %0 = linalg.matmul ins(%A, %B : tensor<32x32xf16>, tensor<32x48xf16>)
                     outs(%C : tensor<32x48xf32>) -> tensor<32x48xf32>
  // TWICE: -:[[# @LINE + 1]]:3: error: result 1 is returned twice; expected a value of its own for each result
  return %0, %0 : tensor<32x48xf32>, tensor<32x48xf32>
}

func.func @untouched(%A: tensor<32x32xf16>, %B: tensor<32x48xf16>, %C: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.matmul ins(%A, %B : tensor<32x32xf16>, tensor<32x48xf16>)
                     outs(%C : tensor<32x48xf32>) -> tensor<32x48xf32>
  // UNTOUCHED: -:[[# @LINE + 1]]:3: error: result 0 is an argument returned as it is; expected a computed value
  return %C : tensor<32x48xf32>
}
