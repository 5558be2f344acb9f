// normalise-kernels: kernels whose operations do not go together; a function that is no kernel's is left alone.
// RUN: not mlir-gemm opt --split-input-file %s normalise-kernels 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'normalise-kernels{swap=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'normalise-kernels' has no option 'swap' (options: none)

// CHECK: error: its reduction runs along 2 dimensions that do not follow one another evenly in both operands
module { module @k {
  func.func @k(%A: memref<64x4x5xf32>, %B: memref<5x4x8xf32>, %C: memref<64x8xf32>) {
    linalg.generic {indexing_maps = [affine_map<(m, n, i, j) -> (m, i, j)>, affine_map<(m, n, i, j) -> (j, i, n)>,
                                     affine_map<(m, n, i, j) -> (m, n)>],
                    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%A, %B : memref<64x4x5xf32>, memref<5x4x8xf32>) outs(%C : memref<64x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    }
    return
  }
} }

// -----

// CHECK: error: this cannot be part of the kernel of the first linalg.generic: it does not use its result
module { module @apart {
  func.func @apart(%A: memref<4x6xf32>, %B: memref<6x5xf32>, %C: memref<4x5xf32>, %D: memref<4x5xf32>, %E: memref<4x5xf32>) {
    linalg.matmul ins(%A, %B : memref<4x6xf32>, memref<6x5xf32>) outs(%C : memref<4x5xf32>)
    linalg.copy ins(%D : memref<4x5xf32>) outs(%E : memref<4x5xf32>)
    return
  }
} }

// -----

// CHECK: error: reads what the kernel writes, but at another place of it
module { module @overlap {
  func.func @overlap(%A: memref<5x5xf32>, %C: memref<5x5xf32>) {
    linalg.matmul ins(%A, %C : memref<5x5xf32>, memref<5x5xf32>) outs(%C : memref<5x5xf32>)
    return
  }
} }

// -----

// CHECK: error: fills a buffer that nothing else in the kernel writes
module { module @fill {
  func.func @fill(%A: memref<5x5xf32>, %B: memref<5x5xf32>, %C: memref<5x5xf32>, %D: memref<5x5xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%D : memref<5x5xf32>)
    linalg.matmul ins(%A, %B : memref<5x5xf32>, memref<5x5xf32>) outs(%C : memref<5x5xf32>)
    return
  }
} }

// -----

// CHECK: error: 'memref.subview' in a kernel; expected linalg on memrefs
module { module @subview {
  func.func @subview(%A: memref<5x5xf32>, %B: memref<5x5xf32>, %C: memref<5x5xf32>) {
    %v = memref.subview %C[0, 0] [2, 2] [1, 1] : memref<5x5xf32> to memref<2x2xf32, strided<[5, 1]>>
    linalg.matmul ins(%A, %B : memref<5x5xf32>, memref<5x5xf32>) outs(%C : memref<5x5xf32>)
    return
  }
} }

// -----

// CHECK: error: a kernel without a linalg.generic; expected one
module { module @empty {
  func.func @empty(%A: memref<5x5xf32>) {
    return
  }
} }

// -----

// CHECK: error: a kernel's module holds 2 functions with a body; expected one
module { module @two {
  func.func @one() { return }
  func.func @two() { return }
} }

// -----

// CHECK-LABEL: func.func @flat(
//  CHECK-NEXT:   linalg.matmul
func.func @flat(%A: memref<5x5xf32>, %B: memref<5x5xf32>, %C: memref<5x5xf32>) {
  linalg.matmul ins(%A, %B : memref<5x5xf32>, memref<5x5xf32>) outs(%C : memref<5x5xf32>)
  return
}
