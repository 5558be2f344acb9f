func.func @argmax(%A: memref<6x20xf32>, %C: memref<6xi64>) {
  %l = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i64
  affine.for %i = 0 to 6 {
    %s:2 = affine.for %j = 0 to 20 iter_args(%a = %l, %p = %z) -> (f32, i64) {
      %x = affine.load %A[%i, %j] : memref<6x20xf32>
      %q = arith.index_cast %j : index to i64
      %n = arith.maximumf %x, %a : f32
      %c = arith.cmpf ogt, %x, %a : f32
      %w = arith.select %c, %q, %p : i64
      affine.yield %n, %w : f32, i64 }
   affine.store %s#1, %C[%i] : memref<6xi64>
  }
  return }
