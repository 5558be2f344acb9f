// outline-kernels: what it needs to be told, and what has no value.
// RUN: not mlir-gemm opt --split-input-file %s outline-kernels 2>&1 | FileCheck %s
// RUN: not mlir-gemm opt --split-input-file %s 'outline-kernels{inline=1}' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: pass 'outline-kernels' has no option 'inline' (options: none)

// CHECK: 9:8: error: 'linalg.matmul' belongs to no kernel; run group-kernels first
func.func @no_kernel(%A: tensor<2x2xf32>, %B: tensor<2x2xf32>, %C: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %p = linalg.matmul ins(%A, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%C : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p : tensor<2x2xf32>
}

// -----

// CHECK: error: what this adds to has no value yet; fill it first (linalg.fill)
func.func @no_start(%A: tensor<2x2xf32>, %B: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %p = linalg.matmul {tile.kernel = 0 : i64}
      ins(%A, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p : tensor<2x2xf32>
}

// -----

// CHECK: error: argument 1 has type f32; expected tensors or memrefs
func.func @scalar(%A: tensor<2x2xf32>, %x: f32) -> tensor<2x2xf32> {
  %f = linalg.fill {tile.kernel = 0 : i64} ins(%x : f32) outs(%A : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %f : tensor<2x2xf32>
}

// -----

// CHECK: error: a result goes to memref<2x2xf32, strided<[1, 1]>>, where elements share places
func.func @shared(%A: tensor<2x2xf32>, %B: tensor<2x2xf32>, %C: tensor<2x2xf32>, %D: memref<2x2xf32, strided<[1, 1]>>) {
  %p = linalg.matmul {tile.kernel = 0 : i64}
      ins(%A, %B : tensor<2x2xf32>, tensor<2x2xf32>) outs(%C : tensor<2x2xf32>) -> tensor<2x2xf32>
  bufferization.materialize_in_destination %p in restrict writable %D
      : (tensor<2x2xf32>, memref<2x2xf32, strided<[1, 1]>>) -> ()
  return
}
