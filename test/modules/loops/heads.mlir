func.func @heads(%A: memref<4x16x24xf32>, %B: memref<4x24x8xf32>, %C: memref<16x32xf32>) {
  affine.for %h = 0 to 4 {
    %a = memref.subview %A[%h, 0, 0] [1, 16, 24] [1, 1, 1] : memref<4x16x24xf32> to memref<16x24xf32, strided<[24, 1], offset: ?>>
    %b = memref.subview %B[%h, 0, 0] [1, 24, 8] [1, 1, 1] : memref<4x24x8xf32> to memref<24x8xf32, strided<[8, 1], offset: ?>>
    %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%h)
    %c = memref.subview %C[0, %at] [16, 8] [1, 1] : memref<16x32xf32> to memref<16x8xf32, strided<[32, 1], offset: ?>>
    linalg.matmul ins(%a, %b : memref<16x24xf32, strided<[24, 1], offset: ?>>, memref<24x8xf32, strided<[8, 1], offset: ?>>)
      outs(%c : memref<16x8xf32, strided<[32, 1], offset: ?>>)
  }
  return }
