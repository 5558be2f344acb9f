func.func @columns(%A: memref<32x32xf32>, %C: memref<32x64xf32>) {
  %c = memref.subview %C[0, 0] [32, 32] [1, 1] : memref<32x64xf32> to memref<32x32xf32, strided<[64, 1]>>
  %d = memref.subview %C[0, 32] [32, 32] [1, 1] : memref<32x64xf32> to memref<32x32xf32, strided<[64, 1], offset: 32>>
  linalg.matmul ins(%A, %d : memref<32x32xf32>, memref<32x32xf32, strided<[64, 1], offset: 32>>) outs(%c : memref<32x32xf32, strided<[64, 1]>>)
  linalg.matmul ins(%c, %A : memref<32x32xf32, strided<[64, 1]>>, memref<32x32xf32>) outs(%d : memref<32x32xf32, strided<[64, 1], offset: 32>>)
  return
}
