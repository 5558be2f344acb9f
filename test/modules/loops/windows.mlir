func.func @windows(%A: memref<10xf32>, %C: memref<8xf32>) {
  %l = arith.constant 0xFF800000 : f32
  affine.for %i = 0 to 8 {
    affine.store %l, %C[%i] : memref<8xf32>
    affine.for %u = 0 to 3 {
      %x = affine.load %A[%i + %u] : memref<10xf32>
      %c = affine.load %C[%i] : memref<8xf32>
      %n = arith.maximumf %c, %x : f32
      affine.store %n, %C[%i] : memref<8xf32>
    } } return }
