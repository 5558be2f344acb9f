func.func @parts(%A: memref<16x24xf16>, %B: memref<24x8xf16>, %C: memref<40x32xf32>) {
  %z = arith.constant 0.0 : f32
  %c = memref.subview %C[8, 16] [16, 8] [1, 1] : memref<40x32xf32> to memref<16x8xf32, strided<[32, 1], offset: 272>>
  linalg.fill ins(%z : f32) outs(%c : memref<16x8xf32, strided<[32, 1], offset: 272>>)
  linalg.matmul ins(%A, %B : memref<16x24xf16>, memref<24x8xf16>) outs(%c : memref<16x8xf32, strided<[32, 1], offset: 272>>)
  %d = memref.subview %C[24, 0] [16, 8] [1, 1] : memref<40x32xf32> to memref<16x8xf32, strided<[32, 1], offset: 768>>
  linalg.tanh ins(%c : memref<16x8xf32, strided<[32, 1], offset: 272>>) outs(%d : memref<16x8xf32, strided<[32, 1], offset: 768>>)
  return
}
