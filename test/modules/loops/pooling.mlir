func.func @pooling(%A: memref<8x8xf32>, %C: memref<6x6xf32>) {
  %l = arith.constant 0xFF800000 : f32
  affine.for %i = 0 to 4 { affine.for %j = 0 to 4 {
    affine.store %l, %C[%i+1, %j+1] : memref<6x6xf32>
    affine.for %u = 0 to 2 { affine.for %v = 0 to 2 {
      %x = affine.load %A[2 * %i + %u, 2 * %j + %v] : memref<8x8xf32>
      %c = affine.load %C[%i+1, %j+1] : memref<6x6xf32>
      %n = arith.maximumf %c, %x : f32
      affine.store %n, %C[%i+1, %j+1] : memref<6x6xf32>
    } } } } return }
