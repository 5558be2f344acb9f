func.func @open(%A: memref<?x48xf32>, %B: memref<48x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x48xf32>
  %n = memref.dim %B, %c1 : memref<48x?xf32>
  affine.for %i = 0 to %m { affine.for %j = 0 to %n { affine.for %k = 0 to 48 {
      %x = affine.load %A[%i, %k] : memref<?x48xf32>
      %y = affine.load %B[%k, %j] : memref<48x?xf32>
      %c = affine.load %C[%i, %j] : memref<?x?xf32>
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, %C[%i, %j] : memref<?x?xf32> } } }
  return }
