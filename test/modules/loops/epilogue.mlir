func.func @epilogue(%A: memref<20x48xf32>, %B: memref<48x24xf32>, %b: memref<24xf32>, %C: memref<20x24xf32>) {
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 20 { affine.for %j = 0 to 24 {
    %s = affine.for %k = 0 to 48 iter_args(%acc = %z) -> (f32) {
      %x = affine.load %A[%i, %k] : memref<20x48xf32>
      %y = affine.load %B[%k, %j] : memref<48x24xf32>
      %p = arith.mulf %x, %y : f32
      %n = arith.addf %acc, %p : f32
      affine.yield %n : f32 }
    %bb = affine.load %b[%j] : memref<24xf32>
    %t = arith.addf %s, %bb : f32
    %r = arith.maximumf %t, %z : f32
    affine.store %r, %C[%i, %j] : memref<20x24xf32>
  } } return }
