func.func @filter(%A: memref<20xf32>, %W: memref<3xf32>, %C: memref<18xf32>) {
  affine.for %i = 0 to 18 {
    affine.for %k = 0 to 3 {
    %x = affine.load %A[%i + %k] : memref<20xf32>
    %w = affine.load %W[%k] : memref<3xf32>
    %c = affine.load %C[%i] : memref<18xf32>
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %c, %p : f32
    affine.store %t, %C[%i] : memref<18xf32>
  } } return }
