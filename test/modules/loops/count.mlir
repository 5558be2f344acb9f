func.func @count(%C: memref<7xf32>) {
  %one = arith.constant 1.5 : f32
  affine.for %k = 0 to 5 { affine.for %i = 0 to 7 {
      %c = affine.load %C[%i] : memref<7xf32>
      %n = arith.addf %c, %one : f32
      affine.store %n, %C[%i] : memref<7xf32> } }
  return }
