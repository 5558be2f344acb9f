func.func @swapped_parts(%C: memref<8x4xf32>) {
  %t = memref.alloc() : memref<4x4xf32>
  %c = memref.subview %C[0, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  %d = memref.subview %C[4, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 16>>
  memref.copy %c, %t : memref<4x4xf32, strided<[4, 1]>> to memref<4x4xf32>
  linalg.exp ins(%d : memref<4x4xf32, strided<[4, 1], offset: 16>>) outs(%c : memref<4x4xf32, strided<[4, 1]>>)
  linalg.tanh ins(%t : memref<4x4xf32>) outs(%d : memref<4x4xf32, strided<[4, 1], offset: 16>>)
  return
}
