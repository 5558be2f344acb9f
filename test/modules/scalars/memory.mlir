func.func @memory(%A: memref<24x32xf32>, %B: memref<32x16xf32>, %C: memref<24x16xf32>, %beta: f32) {
  affine.for %i = 0 to 24 {
    affine.for %j = 0 to 16 {
      %c = affine.load %C[%i, %j] : memref<24x16xf32>
      %s = arith.mulf %c, %beta : f32
      affine.store %s, %C[%i, %j] : memref<24x16xf32>
    }
  }
  linalg.matmul ins(%A, %B : memref<24x32xf32>, memref<32x16xf32>) outs(%C : memref<24x16xf32>)
  return
}
