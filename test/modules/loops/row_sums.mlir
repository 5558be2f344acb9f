func.func @row_sums(%A: memref<7x600xf32>, %C: memref<7xf32>) {
  affine.for %k = 0 to 600 { affine.for %i = 0 to 7 {
      %x = affine.load %A[%i, %k] : memref<7x600xf32>
      %c = affine.load %C[%i] : memref<7xf32>
      %n = arith.addf %c, %x : f32
      affine.store %n, %C[%i] : memref<7xf32> } }
  return }
